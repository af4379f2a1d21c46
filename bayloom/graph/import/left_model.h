// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <onnx/onnx_pb.h>

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "bayloom/graph/import/external_data.h"
#include "bayloom/graph/import/partial_import.h"
#include "bayloom/tensor/interpreter.h"

namespace bayloom::graph {

/// Writes nodes of a model as models of their own, for other programs. What is constant comes along
/// as initializers: those of the file as they are, with data from other files in them, and what the
/// import computed.
class LeftModelWriter {
 public:
  /// All have to live as long as this.
  LeftModelWriter(const onnx::ModelProto& model, const PartialImport& import, DataFolder folder);

  /// What the file says of a value; null: nothing.
  const onnx::TypeProto* TypeOf(const std::string& name) const;
  /// Whether the value is known at compile time.
  bool IsConstant(const std::string& name) const;

  /// `inputs` and `outputs` are names. Throws InputError for inputs of unknown types, and for what
  /// is too large for one file.
  std::string Write(const std::vector<const onnx::NodeProto*>& nodes,
                    const std::vector<std::string>& inputs,
                    const std::vector<std::string>& outputs) const;

 private:
  onnx::ValueInfoProto Describe(const std::string& name) const;
  void AddConstant(const std::string& name, onnx::GraphProto& graph) const;

  const onnx::ModelProto& model_;
  const PartialImport& import_;
  const DataFolder folder_;
  std::unordered_map<std::string, const onnx::TypeProto*> types_;
  std::unordered_map<std::string, const onnx::TensorProto*> initializers_;
  std::unordered_map<std::string, const onnx::SparseTensorProto*> sparse_;
};

}  // namespace bayloom::graph
