// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/graph/graph.h"

namespace bayloom::graph {

struct ImportOptions {
  /// Shapes for inputs by name, in place of what the file says. An input whose shape the model
  /// leaves open needs one (OpenShapeError).
  std::map<std::string, std::vector<int64_t>> input_shapes;
  /// Inputs that are to be constants of the graph, by name.
  std::map<std::string, std::shared_ptr<const tensor::HostTensor>> frozen_inputs;
};

/// The model leaves the shape of an input open, and the options do not give it.
class OpenShapeError : public InputError {
 public:
  /// `shape` is what the model says of it, such as "batchx3xHxW"; empty: nothing.
  OpenShapeError(const std::string& message, std::string input, std::string shape)
      : InputError(message), input_(std::move(input)), shape_(std::move(shape)) {}
  const std::string& input() const { return input_; }
  const std::string& shape() const { return shape_; }

 private:
  std::string input_;
  std::string shape_;
};

/// What an operator needs at compile time (the shape of a Reshape, the bounds of a Slice) depends
/// on inputs of the model: it can be imported with those frozen.
class RunTimeDependence : public InputError {
 public:
  RunTimeDependence(const std::string& message, std::vector<std::string> inputs)
      : InputError(message), inputs_(std::move(inputs)) {}
  const std::vector<std::string>& inputs() const { return inputs_; }

 private:
  std::vector<std::string> inputs_;
};

/// Reads an ONNX model (operator sets 7 to 28, tensors in the file or in files beside it) as a
/// graph with static shapes: shape arithmetic and everything else that depends on constants is
/// evaluated, functions are expanded, composite operators are decomposed.
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
