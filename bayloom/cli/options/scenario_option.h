// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bayloom/search/scenario.h"

namespace CLI {
class App;
}

namespace bayloom::cli {

/// The scenario that a subcommand works on, and what the command line changes about it.
struct ScenarioOption {
  std::string path;
  std::optional<std::string> optimizer;
  std::optional<int64_t> seed;
  std::optional<int64_t> trials;
  std::string time;
  std::vector<double> until_value;
  std::optional<int64_t> until_plateau;
  double plateau_gain = 0;  ///< percent
  std::string database;
  bool resume = false;

  void AddTo(CLI::App& command);
  /// Reads the file, or `text` in its place if that is not empty, and applies the other options.
  /// Throws InputError.
  search::Scenario Load(const std::string& text = "") const;
  /// Where records are kept: --db, or a file named after the scenario.
  std::string DatabaseFor(const search::Scenario& scenario) const;

 private:
  /// What is said of how it is searched, which holds for each of its contexts.
  void OverrideSearch(search::Scenario& scenario) const;
};

}  // namespace bayloom::cli
