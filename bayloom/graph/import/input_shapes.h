// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/graph/import.h"
#include "bayloom/graph/import/small_types.h"

namespace bayloom::graph {

/// One dimension of an input as the model declares it: known, or open under a name.
struct DeclaredDimension {
  std::optional<int64_t> extent;
  std::string name;  ///< as OpenDimension's; of an open one
};

/// An input as the model declares it.
struct DeclaredInput {
  std::string name;
  tensor::DType dtype = tensor::DType::kFloat32;
  const SmallType* small = nullptr;  ///< the values are of this type, `dtype` holds them
  /// nullopt: the model says nothing, not even how many dimensions there are.
  std::optional<std::vector<DeclaredDimension>> shape;
};

/// The inputs of a graph for which it has no data.
std::vector<const onnx::ValueInfoProto*> InputsWithoutData(const onnx::GraphProto& graph);

/// Throws InputError, without the input's name, for what is no tensor of a supported type.
DeclaredInput ReadDeclaredInput(const onnx::ValueInfoProto& input);

/// The open dimensions of the inputs, each once, in the order in which they come.
std::vector<OpenDimension> OpenDimensions(const std::vector<DeclaredInput>& inputs);

/// "batch (inputs 'ids', 'mask'), ids.1": open dimensions as messages name them. Names that say the
/// input themselves stand alone.
std::string Describe(const std::vector<OpenDimension>& dimensions);

/// The shapes that a model's inputs have under the options: every open dimension gets one extent,
/// for all inputs that have it.
class InputShapes {
 public:
  /// Throws OpenShapeError, naming all that is missing, where extents are not given; InputError for
  /// two inputs of one name, for names in the options that the model does not have, and where two
  /// options give one dimension different extents.
  InputShapes(std::vector<DeclaredInput> inputs, const ImportOptions& options);

  const std::vector<DeclaredInput>& inputs() const { return inputs_; }
  std::vector<int64_t> ShapeOf(const DeclaredInput& input) const;
  /// The shape of another value, declared in the same way, if its open dimensions are the inputs'.
  std::optional<std::vector<int64_t>> KnownShapeOf(const DeclaredInput& value) const;
  /// The input's constant, in its type and shape; null if it is not frozen.
  std::shared_ptr<const tensor::HostTensor> Frozen(const std::string& input) const;

 private:
  struct Extent {
    int64_t value;
    std::string source;  ///< for messages: "the shape of input 'x'"
  };

  void CheckNames(const ImportOptions& options) const;
  void BindDimension(const std::string& name, int64_t extent, const std::string& source);
  std::optional<int64_t> ExtentOf(const std::string& name) const;
  void BindGivenSums(const ImportOptions& options);
  /// Dimensions that are called sums of others ("past + 1") have the extents of those.
  void BindSums();
  void BindShape(const DeclaredInput& input, const std::vector<int64_t>& shape,
                 const std::string& source);
  void Freeze(const DeclaredInput& input, const tensor::HostTensor& tensor);
  void CheckComplete(const ImportOptions& options) const;

  std::vector<DeclaredInput> inputs_;
  std::map<std::string, Extent> extents_;  // of open dimensions, by name
  std::map<std::string, std::vector<int64_t>> shapes_;
  std::map<std::string, std::shared_ptr<const tensor::HostTensor>> frozen_;
};

}  // namespace bayloom::graph
