// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/graph/graph.h"

namespace bayloom::graph {

struct ImportOptions {
  /// Extents of the dimensions that the model leaves open, by their names (OpenDimension). Each has
  /// to be given: here, by a shape, or by an input that is frozen (OpenShapeError). What the model
  /// calls a sum of others, "past + 1", follows from those.
  std::map<std::string, int64_t> dimensions;
  /// Dimensions, by their names, that are to stay open in the graph. Only ImportOnnx and SurveyOnnx
  /// take them.
  std::vector<Symbol> symbols;
  /// How long dimensions are at most whose lengths the network finds when it runs, by the names of
  /// the dimensions or of the tensors that have them. Where shapes say it, none is needed.
  std::map<std::string, int64_t> bounds;
  /// Lengths of these that stand for all that occur, as Graph::points; empty: TypicalLengths.
  std::vector<std::vector<int64_t>> points;
  /// As Graph::state_room.
  int64_t state_room = 0;
  /// As Graph::state_type.
  std::optional<tensor::DType> state_type;
  /// Whether caches of fixed size become states, where they can (GrowCaches).
  bool grow_caches = false;
  /// Dimensions whose extents are sums of numbers and of those given above: "past + sequence".
  std::map<std::string, std::string> sums;
  /// Shapes of inputs by name, in place of what the file says. A dimension that the file leaves
  /// open has the extent given here in all inputs.
  std::map<std::string, std::vector<int64_t>> input_shapes;
  /// Inputs that are to be constants of the graph, by name. Numbers take the input's type, as far
  /// as it can hold them; as many numbers as the input has take its shape.
  std::map<std::string, std::shared_ptr<const tensor::HostTensor>> frozen_inputs;
  /// As GraphBuilder::AllowIntegerRows.
  bool integer_rows = false;
  /// Outputs [.., rows, columns] of which only the last row is to be computed.
  std::vector<std::string> last_rows;
};

/// A dimension of one or more inputs whose extent a model leaves open.
struct OpenDimension {
  /// What the model calls it, such as "batch"; without a name that of the input and the position
  /// there, such as "image.0".
  std::string name;
  std::vector<std::string> inputs;  ///< those that have it, in order

  /// Whether the name is one that the batch goes by: "batch_size", "N", "image.0".
  bool IsBatch() const;
};

/// Extents with which the dimensions fit each other: 1 for a batch, the past and the present
/// together for what is called total, `extent` for everything else.
std::map<std::string, int64_t> ExampleExtents(const std::vector<OpenDimension>& dimensions,
                                              int64_t extent);

/// The options do not give all extents that the model leaves open.
class OpenShapeError : public InputError {
 public:
  /// `inputs`: those that the model gives no shape at all.
  OpenShapeError(const std::string& message, std::vector<OpenDimension> dimensions,
                 std::vector<std::string> inputs)
      : InputError(message), dimensions_(std::move(dimensions)), inputs_(std::move(inputs)) {}
  const std::vector<OpenDimension>& dimensions() const { return dimensions_; }
  const std::vector<std::string>& inputs() const { return inputs_; }

 private:
  std::vector<OpenDimension> dimensions_;
  std::vector<std::string> inputs_;
};

/// What an operator needs at compile time (the axes of a reduction, a length that nothing bounds)
/// depends on inputs of the model: it can be imported with those frozen.
class RunTimeDependence : public InputError {
 public:
  /// `bound`: what a bound has to be given for, if that is all that is needed.
  RunTimeDependence(const std::string& message, std::vector<std::string> inputs,
                    std::string bound = "")
      : InputError(message), inputs_(std::move(inputs)), bound_(std::move(bound)) {}
  const std::vector<std::string>& inputs() const { return inputs_; }
  const std::string& bound() const { return bound_; }

 private:
  std::vector<std::string> inputs_;
  std::string bound_;
};

/// Reads an ONNX model (operator sets 7 to 28, tensors in the file or in files beside it) as a
/// graph with static shapes: shape arithmetic and everything else that depends on constants is
/// evaluated, lengths that depend on data are found when the network runs (Graph::found), functions
/// are expanded, composite operators are decomposed, recurrent operators and
/// loops are unrolled. Random operators draw the same numbers at every run, from their seed or
/// their name.
///
/// Throws InputError, one line naming the file, the node with its operator, and the reason, for
/// anything that cannot be used: damaged files, operators or attributes that are not supported,
/// shapes that do not fit or are known at run time only; SystemError where memory or the disk
/// fails.
Graph ImportOnnx(const std::string& path, const ImportOptions& options = {});

/// Reads one tensor stored as a protobuf file. Throws InputError.
tensor::HostTensor ReadOnnxTensor(const std::string& path);

/// The names of a model's inputs in order, without those that have data in the file. Throws as
/// ImportOnnx.
std::vector<std::string> ReadInputNames(const std::string& path);

}  // namespace bayloom::graph
