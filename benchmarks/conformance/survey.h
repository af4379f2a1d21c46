// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/graph/import/conformance.h"

namespace bayloom {

enum class Outcome { kPassed, kRefused, kWrong, kCrashed };
std::string ToString(Outcome outcome);

/// What became of one of ONNX's tests.
struct SurveyedTest {
  std::string name;
  std::string op;  ///< the operator of the model's first node, with its domain
  /// What the test is about: "numeric" (floats, integers, quantization), "small types" (inputs or
  /// outputs of less than 8 bits or of 8-bit floats), "strings", "sequences" (and optionals,
  /// maps), "ai.onnx.ml", "training".
  std::string kind;
  Outcome outcome = Outcome::kPassed;
  std::string reason;
};

/// Runs every test in the folders below `root`, each in a process of its own with `seconds` to
/// live, sorted by name.
std::vector<SurveyedTest> Survey(const std::string& root, const graph::GraphEvaluator& evaluate,
                                 int seconds);

}  // namespace bayloom
