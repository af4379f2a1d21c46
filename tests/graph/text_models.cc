// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/graph/text_models.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace bayloom::graph {

onnx::ModelProto ParseModel(const std::string& graph, int opset) {
  const std::string text = fmt::format(
      "<ir_version: 7, opset_import: [\"\" : {}, \"com.microsoft\" : 1]> {}", opset, graph);
  onnx::ModelProto model;
  onnx::OnnxParser parser(text.c_str());
  const auto status = parser.Parse(model);
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage();
  return model;
}

Graph ImportText(const std::string& graph, int opset, const ImportOptions& options) {
  const onnx::ModelProto model = ParseModel(graph, opset);
  const auto path =
      std::filesystem::temp_directory_path() / fmt::format("bayloom_text_{}.onnx", getpid());
  std::ofstream(path, std::ios::binary) << model.SerializeAsString();
  try {
    Graph imported = ImportOnnx(path.string(), options);
    std::filesystem::remove(path);
    return imported;
  } catch (...) {
    std::filesystem::remove(path);
    throw;
  }
}

}  // namespace bayloom::graph
