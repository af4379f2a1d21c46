// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bayloom/graph/graph.h"

namespace bayloom::graph {

/// Computes a graph's outputs from its inputs, in the way that is to be tested.
using GraphEvaluator = std::function<std::vector<tensor::HostTensor>(
    const Graph&, const std::vector<tensor::HostTensor>&)>;

enum class ConformanceVerdict : uint8_t {
  kPassed,
  kRefused,  ///< the importer said why in one line
  kWrong,    ///< another result than the test expects
};

struct ConformanceResult {
  std::string test;
  ConformanceVerdict verdict = ConformanceVerdict::kPassed;
  std::string reason;  ///< why it was refused, or what is wrong
};

struct ConformanceOptions {
  /// Freezes all inputs to the test's data, so that the model is evaluated when it is imported.
  bool freezes_all = false;
  /// Of the largest value: what floats may differ by besides.
  double roundings = 4;
};

/// Runs one of ONNX's node tests: `folder` holds model.onnx and test_data_set_0. Inputs that an
/// operator needs at compile time are frozen to the test's data. Floats may differ by 1e-3
/// relative plus 1e-7, those of bfloat16 by 1/64 relative, as ONNX's own runner allows, and by what
/// some roundings of the largest value amount to.
ConformanceResult RunConformanceTest(const std::string& folder, const GraphEvaluator& evaluate,
                                     const ConformanceOptions& options = {});

/// Runs every test below `root` (Debian: /usr/share/libonnx-testdata/data/node), sorted by name.
std::vector<ConformanceResult> RunConformanceTests(const std::string& root,
                                                   const GraphEvaluator& evaluate);

/// What differs between two tensors beyond the tolerances (tensor::Tolerance); empty if nothing
/// does.
std::string Difference(const tensor::HostTensor& actual, const tensor::HostTensor& expected,
                       double relative, double absolute);

}  // namespace bayloom::graph
