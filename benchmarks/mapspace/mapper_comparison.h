// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bayloom/mapspace/mapper.h"

namespace bayloom {

/// What all comparisons of mappers are told: of one operation, over how many seeds, how long.
struct ComparisonArguments {
  std::string op = "matmul:512,512,512";
  std::string architecture = "gemmini";
  std::string objective = "energy";
  std::string tiles = "divisor";
  std::string orders = "permutation";
  int64_t seeds = 20;
  int64_t first_seed = 1;
  int64_t evaluations = 300;
  /// The value to reach; 0: the median of random-pruned after 4,000.
  double target = 0;
  std::string json;

  /// All but the architecture, which not every comparison chooses.
  void AddTo(CLI::App& app);
  /// Of one search.
  mapspace::MapperOptions Options(int64_t seed) const;
  /// One after the last seed.
  int64_t EndSeed() const { return first_seed + seeds; }
};

/// The searches of one mapper, a seed each.
using SeededResults = std::vector<mapspace::MapperResult>;

/// Random-pruned with 4,000 evaluations, what all are compared with.
SeededResults RunRandomPruned(const mapspace::Mapspace& mapspace,
                              const mapspace::AnalyticalModel& model,
                              const ComparisonArguments& arguments);
/// The target, or the median of these.
double TargetOf(const ComparisonArguments& arguments, const SeededResults& random);

/// A line: quartiles of the best values after so many evaluations, as far as the searches went, and
/// of the evaluations until they were at the target.
void PrintResults(const std::string& name, const SeededResults& results, double target);

/// The progress of every search.
nlohmann::json ToJson(const SeededResults& results, const mapspace::Problem& problem);

/// Runs a program whose arguments these are: writes what `compare` gives into the file that --json
/// names, opened beforehand. The exit status.
int RunComparison(CLI::App& app, int argc, char** argv, const ComparisonArguments& arguments,
                  const std::function<nlohmann::json()>& compare);

}  // namespace bayloom
