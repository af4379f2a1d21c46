// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace bayloom::cli {

/// What a search does by itself where a scenario does not say and kernels are timed.
struct KernelDefaults {
  KernelDefaults();

  int jobs;  ///< the processors, but few: proposals that are made together know less
  int repeat_best = 5;
  int rounds = 7;  ///< so many that a gain has an interval
  // Of each of several contexts:
  int repeat_best_of_context = 2;
  int rounds_of_context = 5;
};

/// A kernel that is described on the command line in place of a scenario: its source stands where
/// the scenario's file would.
struct KernelOption {
  std::vector<std::string> parameters, arguments, sizes, contexts, constraints, problem_size;
  std::string function, compiler, flags, reference;

  void AddTo(CLI::App& command);
  /// Whether the path is a source's and not a scenario's. Throws InputError where it is not, and
  /// options for a source are given.
  bool IsSource(const std::string& path) const;
  /// The scenario that the options describe. Throws InputError.
  std::string ScenarioText(const std::string& path) const;
  /// The options as they are on a command line.
  std::vector<std::string> Arguments() const;
};

}  // namespace bayloom::cli
