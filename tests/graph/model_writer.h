// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bayloom/graph/graph.h"
#include "bayloom/graph/import.h"

namespace onnx {
class ModelProto;
}

namespace bayloom::graph {

/// Writes a small ONNX model, node after node; values are named by the writer.
class ModelWriter {
 public:
  using AttributeValue = std::variant<int64_t, float, std::string, std::vector<int64_t>>;
  using Attributes = std::vector<std::pair<std::string, AttributeValue>>;

  explicit ModelWriter(int opset = 17);
  ModelWriter(ModelWriter&&) noexcept;
  ~ModelWriter();

  std::string Input(tensor::DType dtype, const std::vector<int64_t>& shape);
  std::string Constant(const tensor::HostTensor& data);
  /// Integers of 4 bits, of the type that ONNX has this number for.
  std::string ConstantOf4Bits(const tensor::HostTensor& data, int onnx_type);
  /// Empty inputs are left out.
  std::vector<std::string> Node(const std::string& op, const std::vector<std::string>& inputs,
                                const Attributes& attributes, const std::string& domain,
                                int outputs);
  std::string Node(const std::string& op, const std::vector<std::string>& inputs,
                   const Attributes& attributes = {}, const std::string& domain = "") {
    return Node(op, inputs, attributes, domain, 1)[0];
  }
  void Output(const std::string& value);

  /// The graph, imported from a file.
  Graph Import(const ImportOptions& options = {}) const;
  void Save(const std::string& path) const;

 private:
  std::string NewName();

  std::unique_ptr<onnx::ModelProto> model_;
  int names_ = 0;
};

}  // namespace bayloom::graph
