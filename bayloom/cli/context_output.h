// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bayloom/search/scenario_search.h"

namespace bayloom::cli {

/// What a search of the contexts of one scenario is asked for and shows at its end.
struct ContextOutput {
  std::string name;                ///< the scenario's
  std::vector<std::string> files;  ///< to be written, each in the form of its ending
  int max_leaves = 8;

  /// "Beginning a search of 18 contexts of matmul: ..."
  std::string Beginning(const search::ScenarioSearch& search) const;
  /// The table, and what the tree of few leaves loses; writes the files.
  std::string Result(const search::ScenarioSearch& search) const;
  nlohmann::json Json(const search::ScenarioSearch& search) const;
};

}  // namespace bayloom::cli
