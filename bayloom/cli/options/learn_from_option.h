// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bayloom/run/learn_from.h"
#include "bayloom/search/scenario.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace bayloom::cli {

/// The option --learn-from, the same in all commands, and --transfer-method.
struct LearnFromOption {
  std::vector<std::string> words;  ///< as given
  std::string method = {};         ///< how observations of several searches are combined

  /// `sources`: what the command takes besides; `files`: what a FILE is.
  CLI::Option* AddTo(CLI::App& command, const std::string& by_default, const std::string& sources,
                     const std::string& files);
  void AddMethodTo(CLI::App& command, const std::string& by_default);

  /// nullopt if it was not given. Throws InputError for words that do not go together.
  std::optional<run::LearnFrom> Sources() const;
  /// Tells the scenario's optimizer, and says on standard error what it learns from. `database`:
  /// the search's own. Throws InputError where there is nothing to learn from.
  void Teach(const std::string& database, search::Scenario& scenario) const;
  /// As on a command line.
  std::vector<std::string> Arguments() const;
};

/// Both options for searches of scenarios.
void AddLearnFromSearches(LearnFromOption& option, CLI::App& command);

}  // namespace bayloom::cli
