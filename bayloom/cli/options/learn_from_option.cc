// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/options/learn_from_option.h"

#include <CLI/App.hpp>

#include "bayloom/cli/help.h"
#include "bayloom/cli/output.h"
#include "bayloom/optimizer/transfer.h"
#include "bayloom/search/earlier_searches.h"

namespace bayloom::cli {

CLI::Option* LearnFromOption::AddTo(CLI::App& command, const std::string& by_default,
                                    const std::string& sources, const std::string& files) {
  return command
      .add_option("--learn-from", words,
                  WithDetails("Learn from: off, earlier (in --db), " + sources,
                              "; repeatable. FILE: " + files))
      ->option_text("FILE")
      ->default_str(by_default)
      ->allow_extra_args(false);
}

void LearnFromOption::AddMethodTo(CLI::App& command, const std::string& by_default) {
  method = by_default;
  OneOf(Advanced(command
                     .add_option("--transfer-method", method,
                                 "How observations of several searches are combined")
                     ->option_text("NAME")
                     ->capture_default_str()),
        optimizer::TransferMethods());
}

std::optional<run::LearnFrom> LearnFromOption::Sources() const {
  if (words.empty()) return std::nullopt;
  return run::LearnFrom::Parse(words);
}

void LearnFromOption::Teach(const std::string& database, search::Scenario& scenario) const {
  const run::LearnFrom sources = Sources().value_or(run::LearnFrom());
  for (const std::string& note : search::TeachOptimizer(sources, method, database, scenario)) {
    Say("{}\n", note);
  }
}

std::vector<std::string> LearnFromOption::Arguments() const {
  std::vector<std::string> arguments;
  for (const std::string& word : words) arguments.insert(arguments.end(), {"--learn-from", word});
  if (!words.empty() && !method.empty()) {
    arguments.insert(arguments.end(), {"--transfer-method", method});
  }
  return arguments;
}

void AddLearnFromSearches(LearnFromOption& option, CLI::App& command) {
  option.AddTo(command, "off", "FILE", "a\ndatabase of searches, or a recorded space");
  option.AddMethodTo(command, "prior");
}

}  // namespace bayloom::cli
