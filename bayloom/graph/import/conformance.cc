// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/import/conformance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "bayloom/base/result.h"
#include "bayloom/graph/import.h"
#include "bayloom/tensor/comparison.h"

namespace bayloom::graph {
namespace {

namespace fs = std::filesystem;

std::string NumberedFile(const std::string& folder, const char* kind, size_t number) {
  return fmt::format("{}/test_data_set_0/{}_{}.pb", folder, kind, number);
}

/// The data that ONNX stores for bfloat16 claims to be uint16.
tensor::HostTensor AsDeclared(tensor::HostTensor tensor, tensor::DType declared) {
  if (tensor.dtype == tensor::DType::kUInt16 && declared == tensor::DType::kBFloat16)
    tensor.dtype = declared;
  return tensor;
}

/// Where an operator wants to know an input's type only (CastLike), ONNX stores one element of it.
tensor::HostTensor AsDeclared(tensor::HostTensor tensor, const Value& declared) {
  tensor = AsDeclared(std::move(tensor), declared.dtype);
  if (tensor.ElementCount() >= declared.ElementCount()) return tensor;
  return tensor::HostTensor::Zeros(tensor.dtype, declared.shape);
}

/// The test's inputs by name, and the graph with those frozen that have to be.
struct Case {
  Graph graph;
  std::vector<tensor::HostTensor> inputs;
};

/// Freezes what the importer asks for until it asks for nothing more.
Graph ImportFreezing(const std::string& folder, const std::vector<std::string>& names,
                     ImportOptions& options) {
  while (true) {
    try {
      return ImportOnnx(folder + "/model.onnx", options);
    } catch (const RunTimeDependence& dependence) {
      for (size_t i = 0; i < names.size(); ++i) {
        const auto& wanted = dependence.inputs();
        if (std::find(wanted.begin(), wanted.end(), names[i]) == wanted.end()) continue;
        options.frozen_inputs[names[i]] = std::make_shared<const tensor::HostTensor>(
            ReadOnnxTensor(NumberedFile(folder, "input", i)));
      }
      if (dependence.inputs().empty()) throw;
    }
  }
}

Case LoadCase(const std::string& folder, bool freezes_all) {
  const std::vector<std::string> names = ReadInputNames(folder + "/model.onnx");
  ImportOptions options;
  for (size_t i = 0; freezes_all && i < names.size(); ++i) {
    options.frozen_inputs[names[i]] = std::make_shared<const tensor::HostTensor>(
        ReadOnnxTensor(NumberedFile(folder, "input", i)));
  }
  Case test{ImportFreezing(folder, names, options), {}};
  for (size_t i = 0; i < names.size(); ++i) {
    if (options.frozen_inputs.contains(names[i])) continue;
    const ValueId id = test.graph.inputs[test.inputs.size()];
    test.inputs.push_back(
        AsDeclared(ReadOnnxTensor(NumberedFile(folder, "input", i)), test.graph.values[id]));
  }
  return test;
}

/// What a rounding of the largest value may amount to: sums that are almost 0 have such errors.
double RoundingOf(const tensor::HostTensor& expected) {
  if (!tensor::IsFloat(expected.dtype)) return 0;
  double largest = 0;
  for (int64_t i = 0; i < expected.ElementCount(); ++i) {
    const double magnitude = std::abs(expected.Get(i));
    if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
  }
  const std::map<tensor::DType, double> unit = {{tensor::DType::kFloat64, 0x1p-53},
                                                {tensor::DType::kFloat32, 0x1p-24},
                                                {tensor::DType::kFloat16, 0x1p-11},
                                                {tensor::DType::kBFloat16, 0x1p-8}};
  return unit.at(expected.dtype) * largest;
}

/// Whether only type and shape of ONNX's data are defined: they are one draw of many, or not what
/// the text says. Indices of MaxUnpool count the elements of its output, as those of MaxPool count
/// its input's; the test counts them in a smaller output than the one it asks for.
bool HasArbitraryValues(const std::string& test) {
  const bool is_dropped =
      test.starts_with("test_training_dropout") && test.find("zero_ratio") == std::string::npos;
  return is_dropped || test.starts_with("test_bernoulli") ||
         test == "test_maxunpool_export_with_output_shape";
}

}  // namespace

std::string Difference(const tensor::HostTensor& actual, const tensor::HostTensor& expected,
                       double relative, double absolute) {
  if (actual.dtype != expected.dtype || actual.shape != expected.shape) {
    return fmt::format("{} instead of {}", ToString(actual.dtype, actual.shape),
                       ToString(expected.dtype, expected.shape));
  }
  const tensor::Comparison found =
      tensor::Compare(expected.dtype, actual.data.data(), expected.data.data(),
                      expected.ElementCount(), {.relative = relative, .absolute = absolute});
  if (found.wrong == 0) return "";
  const int64_t i = found.first_wrong;
  return tensor::IsFloat(expected.dtype)
             ? fmt::format("element {} is {} instead of {}", i, actual.Get(i), expected.Get(i))
             : fmt::format("element {} is {} instead of {}", i, actual.GetInt(i),
                           expected.GetInt(i));
}

ConformanceResult RunConformanceTest(const std::string& folder, const GraphEvaluator& evaluate,
                                     const ConformanceOptions& options) {
  ConformanceResult result{fs::path(folder).filename().string(), ConformanceVerdict::kPassed, ""};
  std::vector<tensor::HostTensor> outputs;
  try {
    const Case test = LoadCase(folder, options.freezes_all);
    outputs = evaluate(test.graph, test.inputs);
  } catch (const InputError& error) {
    return {result.test, ConformanceVerdict::kRefused, error.what()};
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const tensor::HostTensor expected =
        AsDeclared(ReadOnnxTensor(NumberedFile(folder, "output", i)), outputs[i].dtype);
    const double relative = expected.dtype == tensor::DType::kBFloat16 ? 1.0 / 64 : 1e-3;
    const double absolute = 1e-7 + options.roundings * RoundingOf(expected);
    const bool is_alike = outputs[i].dtype == expected.dtype && outputs[i].shape == expected.shape;
    if (is_alike && HasArbitraryValues(result.test)) continue;
    const std::string difference = Difference(outputs[i], expected, relative, absolute);
    if (difference.empty()) continue;
    return {result.test, ConformanceVerdict::kWrong, fmt::format("output {}: {}", i, difference)};
  }
  return result;
}

std::vector<ConformanceResult> RunConformanceTests(const std::string& root,
                                                   const GraphEvaluator& evaluate) {
  std::vector<std::string> folders;
  for (const auto& entry : fs::directory_iterator(root)) folders.push_back(entry.path().string());
  std::sort(folders.begin(), folders.end());
  std::vector<ConformanceResult> results;
  for (const std::string& folder : folders) {
    results.push_back(RunConformanceTest(folder, evaluate));
  }
  return results;
}

}  // namespace bayloom::graph
