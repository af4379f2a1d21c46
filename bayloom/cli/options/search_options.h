// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/cli/context_output.h"
#include "bayloom/cli/options/kernel_option.h"
#include "bayloom/cli/options/learn_from_option.h"
#include "bayloom/cli/options/scenario_option.h"
#include "bayloom/cli/options/workers_option.h"
#include "bayloom/search/scenario_search.h"

namespace bayloom::cli {

/// What `bayloom search` is given.
struct SearchArguments {
  ScenarioOption scenario;
  std::vector<std::string> others;  ///< scenarios that share the budget with the first
  std::vector<double> weights;
  search::SearchOptions options;
  std::optional<int> jobs, repeat_best, rounds;
  KernelOption kernel;
  std::string command;
  std::string recorded;
  bool sandbox = false;
  WorkersOption workers;
  LearnFromOption learn_from;
  ContextOutput contexts;
  std::string out;
  std::string csv;
  bool json = false;

  /// What they say of a search of these; its budget is of a single scenario else its own.
  search::SearchOptions Options(std::span<const search::SearchMember> members) const;
};

/// Its options and its help.
void AddSearchOptions(SearchArguments& arguments, CLI::App& search);

}  // namespace bayloom::cli
