// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bayloom/target/target.h"
#include "bayloom/tensor/program.h"
#include "bayloom/tensor/trace.h"

namespace bayloom::explain {

/// What a person can compare between two programs of a task: features of the store that does most
/// of the arithmetic (feature/program_features.h), as plain counts, and estimates of time.
struct ProgramFacts {
  double iterations = 0;
  double parallel = 0;    ///< iterations of parallel loops; 0 without any
  double vectorized = 0;  ///< of vectorized loops
  double unrolled = 0;    ///< of unrolled loops
  double unroll_limit = 0;
  double cache_lines = 0;           ///< touched, counting repetitions
  double distinct_cache_lines = 0;  ///< touched, each once
  double flops_per_byte = 0;
  double estimate = 0;       ///< seconds, feature::EstimateTime
  double code_estimate = 0;  ///< seconds, feature::EstimateCodeTime
};

ProgramFacts FactsOf(const tensor::Program& program, const target::Target& target);

/// The counts by name, without the estimates.
nlohmann::json ToJson(const ProgramFacts& facts);

/// Where the first program differs from the second by so much that it shows, as phrases: "touches
/// 3.1 times fewer cache lines". Empty if nowhere.
std::vector<std::string> Differences(const ProgramFacts& facts, const ProgramFacts& others);

/// What a schedule does besides ordering loops, each once, as phrases: "dot-product instructions",
/// "a sum split into partial sums". The program is the one that the trace makes.
std::vector<std::string> Techniques(const tensor::Trace& trace, const tensor::Program& program);

}  // namespace bayloom::explain
