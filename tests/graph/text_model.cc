// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/graph/text_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "bayloom/base/file.h"
#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/import.h"
#include "tests/temporary_folder.h"

namespace bayloom::graph {

onnx::ModelProto TextModel(int opset, const std::string& graph) {
  onnx::ModelProto model;
  model.set_ir_version(10);
  model.add_opset_import()->set_version(opset);
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(graph, model.mutable_graph()));
  return model;
}

std::string Declare(const std::string& name, int type, const std::vector<int64_t>& shape) {
  std::string dims;
  for (int64_t extent : shape) dims += fmt::format("dim {{ dim_value: {} }} ", extent);
  return fmt::format("name: '{}' type {{ tensor_type {{ elem_type: {} shape {{ {} }} }} }}", name,
                     type, dims);
}

std::string NodeText(const std::string& op, const std::vector<std::string>& inputs,
                     const std::string& output, const std::string& attributes) {
  std::string text =
      fmt::format("node {{ op_type: '{}' name: '{}' output: '{}' ", op, output, output);
  for (const std::string& input : inputs) text += fmt::format("input: '{}' ", input);
  return text + attributes + "}\n";
}

std::string IntAttribute(const std::string& name, int64_t value) {
  return fmt::format("attribute {{ name: '{}' type: INT i: {} }} ", name, value);
}

std::string Integers(const std::string& name, const std::vector<int64_t>& values) {
  return fmt::format("initializer {{ name: '{}' data_type: 7 dims: {} int64_data: [{}] }}", name,
                     values.size(), fmt::join(values, ", "));
}

Graph Import(const onnx::ModelProto& model) {
  const TemporaryFolder folder;
  const std::string path = folder / "model.onnx";
  base::WriteFile(path, model.SerializeAsString());
  return ImportOnnx(path);
}

std::vector<tensor::HostTensor> Compute(const onnx::ModelProto& model,
                                        const std::vector<tensor::HostTensor>& inputs) {
  return EvaluateGraph(Import(model), inputs);
}

std::string RefusalOf(const onnx::ModelProto& model) {
  try {
    Import(model);
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos);
    return message.substr(message.find("model.onnx: ") + 12);
  }
  ADD_FAILURE() << "the model was accepted";
  return "";
}

}  // namespace bayloom::graph
