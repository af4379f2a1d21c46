// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/accelerator/design_search.h"
#include "bayloom/cli/options/workers_option.h"

namespace bayloom::cli {

/// What `bayloom design` is given.
struct DesignArguments {
  std::string space;
  std::vector<std::string> networks;
  std::vector<std::string> operations;
  std::vector<std::string> objectives = {"edp"};
  std::vector<std::string> limits;
  std::string technology;
  std::vector<std::string> compare;
  std::optional<int64_t> trials;
  std::string time;
  int64_t evaluations = 300;
  std::string optimizer;
  std::optional<uint64_t> seed;
  int designs = 5;
  std::string database;
  bool resume = false;
  int jobs = 1;
  WorkersOption workers;
  std::string out;
  bool json = false;

  /// What they say of a search of these designs. Throws InputError for texts that say nothing.
  accelerator::DesignOptions Options(const accelerator::DesignSpace& design) const;
};

/// Its options and its help.
void AddDesignOptions(DesignArguments& arguments, CLI::App& design);

}  // namespace bayloom::cli
