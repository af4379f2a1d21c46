// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/internal/map_options.h"

#include <fmt/format.h>

#include "bayloom/base/duration.h"
#include "bayloom/base/file.h"
#include "bayloom/base/result.h"
#include "bayloom/cli/internal/commands.h"
#include "bayloom/cli/internal/run_options.h"
#include "bayloom/mapspace/timeloop_yaml.h"

namespace bayloom::cli {
namespace {

mapspace::ReuseCounting ParseCounting(const std::string& counting) {
  if (counting == "exact") return mapspace::ReuseCounting::kExact;
  if (counting == "timeloop") return mapspace::ReuseCounting::kTimeloop;
  throw InputError("--counting: '" + counting + "' is neither exact nor timeloop");
}

}  // namespace

void MapArguments::Check() const {
  const std::string name = Options(1).MapperName();
  const auto need = [&](bool is_given, const char* option, bool is_used, const char* who) {
    if (is_given && !is_used) {
      throw InputError(fmt::format("{} is for {}, not for the mapper '{}'", option, who, name));
    }
  };
  need(!transfer.empty(), "--transfer", name == "bayesian", "'bayesian'");
  need(rehearse.has_value(), "--rehearse", name == "bayesian", "'bayesian'");
  need(top_k.has_value(), "--top-k", mapspace::SearchesAnEncoding(name),
       "optimizers such as 'bayesian'");
  if (evaluator.find_first_not_of(" \t\n") == std::string::npos) {
    throw InputError("--evaluator is empty: give model, timeloop or a command");
  }
  if (resume && database.empty()) {
    throw InputError("--resume needs --db, the records to go on with");
  }
  if (network.path.empty()) {
    base::CheckFolderOf(out);
  } else if (!out.empty()) {
    base::CreateFolder(out);
  }
}

tuning::MapOptions MapArguments::Options(int64_t layers) const {
  tuning::MapOptions options;
  options.mapper = mapper;
  options.search.seed = seed;
  options.search.victory = victory;
  options.search.tiles = mapspace::ParseTileEncoding(tiles);
  options.search.orders = mapspace::ParseOrderEncoding(orders);
  options.search.transfer = optimizer::ParseTransferMethod(transfer_method);
  options.search.top_k = top_k.value_or(0);
  options.search.objective = mapspace::ParseMapObjective(objective);
  std::optional<int64_t> all;
  if (evaluations) all = *evaluations * layers;
  options.search.budget = MakeBudget(all, time);
  options.counting = ParseCounting(counting);
  options.evaluator = evaluator;
  options.simulator.timeout_seconds = base::ParseDuration(timeout, "--timeout");
  options.simulator.jobs = jobs;
  options.scheduler = scheduler;
  options.database = database;
  options.resume = resume;
  options.transfer = transfer;
  options.rehearsal = rehearse.value_or(0);
  return options;
}

std::vector<mapspace::Directive> MapArguments::Constraints() const {
  std::vector<mapspace::Directive> all;
  for (const std::string& file : constraints) {
    for (mapspace::Directive& directive : mapspace::ReadConstraints(file))
      all.push_back(std::move(directive));
  }
  return all;
}

void FailWithoutMapping(const std::string& failure) {
  throw CheckFailed("no mapping was found that fits and can be evaluated" +
                    (failure.empty() ? "" : "; the last failed: " + failure));
}

}  // namespace bayloom::cli
