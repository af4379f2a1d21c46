// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/internal/model_option.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <charconv>
#include <filesystem>
#include <string_view>

#include "bayloom/base/one_line.h"
#include "bayloom/base/result.h"
#include "bayloom/base/text_limits.h"
#include "bayloom/cli/internal/help.h"
#include "bayloom/graph/import.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/tasks.h"
#include "bayloom/tuning/tuning_subject.h"

namespace bayloom::cli {
namespace {

/// "1x3x224x224"; empty if it is none.
std::vector<int64_t> ParseShape(std::string_view text) {
  std::vector<int64_t> shape;
  while (true) {
    int64_t extent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc() || extent < 1) return {};
    shape.push_back(extent);
    text.remove_prefix(end - text.data());
    if (text.empty()) return shape;
    if (text.front() != 'x') return {};
    text.remove_prefix(1);
  }
}

}  // namespace

CLI::Option* ModelOption::AddTo(CLI::App& command) {
  command
      .add_option(
          "--shape", shapes,
          WithDetails("Shape of an input, if left open: input=1x3x224x224", "; may be repeated"))
      ->option_text("NAME=SHAPE")
      ->expected(1)
      ->take_all();
  return command.add_option("model", path, "ONNX file");
}

graph::Graph ModelOption::LoadGraph() const {
  graph::ImportOptions options;
  for (const std::string& text : shapes) {
    const size_t equals = text.find('=');
    const std::vector<int64_t> shape = equals == std::string::npos
                                           ? std::vector<int64_t>()
                                           : ParseShape(std::string_view(text).substr(equals + 1));
    if (shape.empty()) {
      throw InputError("--shape: '" + text + "' is no shape of an input; write input=1x3x224x224");
    }
    options.input_shapes[text.substr(0, equals)] = shape;
  }
  try {
    return graph::ImportOnnx(path, options);
  } catch (const graph::OpenShapeError& error) {
    const std::string shape = error.shape().empty() ? "1x3x224x224" : error.shape();
    throw InputError(fmt::format("{}; give it with --shape {}={}, a number for each dimension",
                                 error.what(), error.input(), shape));
  }
}

graph::TaskGraph ModelOption::Load() const {
  graph::Graph graph = LoadGraph();
  graph::Optimize(graph);
  return graph::ExtractTasks(std::move(graph));
}

tuning::TuningSubject ModelOption::Subject() const {
  // A file may be called in any bytes; what is recorded and printed is text.
  const std::string name = std::filesystem::path(path).filename().string();
  return tuning::NetworkSubject(base::InOneLine(name, base::kMaxPathBytes), Load());
}

std::string ModelOption::DefaultDatabase() const {
  if (path.empty()) return "operators.db";
  return std::filesystem::path(path).stem().string() + ".db";
}

}  // namespace bayloom::cli
