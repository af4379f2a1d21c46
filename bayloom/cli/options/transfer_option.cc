// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/options/transfer_option.h"

#include <CLI/App.hpp>

#include "bayloom/cli/help.h"
#include "bayloom/cli/output.h"
#include "bayloom/optimizer/transfer.h"
#include "bayloom/search/earlier_searches.h"

namespace bayloom::cli {

void TransferOption::AddTo(CLI::App& command) {
  command.add_option("--transfer", files, "Learn from a database or a recorded space; repeatable")
      ->option_text("FILE")
      ->allow_extra_args(false);
  OneOf(Advanced(command
                     .add_option("--transfer-method", method,
                                 "How observations of several searches are combined")
                     ->option_text("NAME")
                     ->capture_default_str()),
        optimizer::TransferMethods());
}

void TransferOption::Apply(const std::string& database, search::Scenario& scenario) const {
  for (const std::string& note : search::TeachOptimizer(files, method, database, scenario)) {
    Say("{}\n", note);
  }
}

std::vector<std::string> TransferOption::Arguments() const {
  std::vector<std::string> arguments;
  for (const std::string& file : files) arguments.insert(arguments.end(), {"--transfer", file});
  if (method != kDefaultMethod) arguments.insert(arguments.end(), {"--transfer-method", method});
  return arguments;
}

}  // namespace bayloom::cli
