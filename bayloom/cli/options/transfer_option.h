// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/search/scenario.h"

namespace CLI {
class App;
}

namespace bayloom::cli {

/// What a search learns from beforehand.
struct TransferOption {
  static constexpr const char* kDefaultMethod = "prior";

  std::vector<std::string> files;  ///< databases and recorded spaces
  std::string method = kDefaultMethod;

  void AddTo(CLI::App& command);
  /// Tells the scenario's optimizer, if there are files, and says on standard error from what it
  /// learns. `database`: the search's own. Throws InputError where there is nothing to learn from.
  void Apply(const std::string& database, search::Scenario& scenario) const;
  /// As on a command line.
  std::vector<std::string> Arguments() const;
};

}  // namespace bayloom::cli
