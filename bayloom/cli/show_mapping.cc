// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/accelerator/earlier_mappings.h"
#include "bayloom/accelerator/stored_search.h"
#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/cli/map_parts.h"
#include "bayloom/cli/options/run_options.h"
#include "bayloom/cli/show_run.h"
#include "bayloom/report/format.h"
#include "bayloom/report/mapping_table.h"
#include "bayloom/report/printable.h"
#include "bayloom/report/run_digest.h"

namespace bayloom::cli {
namespace {

/// A run's question and its best mapping.
struct Found {
  accelerator::StoredSearch search;
  mapspace::Mapping mapping;
};

/// Nullopt where nothing was found; throws InputError where the run cannot be read.
std::optional<Found> BestMappingOf(record::Store& store, const record::RunRecord& run) {
  const report::RunDigest digest = report::DigestOf(store, run.id);
  if (digest.improvements().empty()) return std::nullopt;
  Found found = {.search = accelerator::ReadStoredSearch(run), .mapping = {}};
  Result<mapspace::Mapping> mapping = accelerator::ParseStoredMapping(
      digest.improvements().back().candidate, found.search.problem, found.search.architecture);
  if (!mapping) {
    throw InputError(fmt::format("run {}: {}", run.id, base::SingleLine(mapping.error().message)));
  }
  found.mapping = *std::move(mapping);
  return found;
}

/// Operations that are mapped again.
struct Question {
  std::vector<accelerator::NetworkLayer> layers;
  std::vector<std::optional<mapspace::Mapping>> known;
};

/// Adds a layer.
void AddLayer(const Found& found, int count, Question& question,
              std::vector<accelerator::CostedLayer>& costed) {
  question.layers.push_back({.name = "", .problem = found.search.problem, .count = count});
  question.known.emplace_back(found.mapping);
  costed.push_back(
      {&found.search.architecture, found.search.Model().Evaluate(found.mapping), count});
}

accelerator::MapOptions OptionsOf(const record::RunRecord& run, mapspace::ReuseCounting counting,
                                  mapspace::MappingKind mappings) {
  accelerator::MapOptions options;
  options.mapper = run.proposer;
  options.counting = counting;
  options.mappings = mappings;
  options.search.run.budget = MakeBudget(std::nullopt, "");
  options.search.objectives = {
      mapspace::ParseMapObjective(run.objective.substr(0, run.objective.find(',')))};
  return options;
}

void PrintWhyOperation(const record::RunRecord& run, const Found& found) {
  Question question;
  std::vector<accelerator::CostedLayer> costed;
  AddLayer(found, 1, question, costed);
  fmt::print("{}",
             ExplainMappings(question.layers, found.search.architecture, found.search.constraints,
                             OptionsOf(run, found.search.counting, mapspace::MappingKind::kEven),
                             question.known, accelerator::CostsByPart(costed))
                 .text);
}

void PrintWhyNetwork(record::Store& store, const record::RunRecord& run) {
  const accelerator::StoredNetwork network = accelerator::ReadStoredNetwork(run);
  const std::vector<record::RunRecord> runs = store.Runs();
  Question question;
  std::vector<accelerator::CostedLayer> costed;
  std::list<Found> all;  // what is costed refers to it
  for (const accelerator::StoredNetwork::Layer& layer : network.layers) {
    const auto own = std::ranges::find(runs, layer.run, &record::RunRecord::uuid);
    if (own == runs.end()) continue;
    if (std::optional<Found> found = BestMappingOf(store, *own)) {
      AddLayer(all.emplace_back(*std::move(found)), layer.count, question, costed);
    }
  }
  if (all.empty()) return;
  fmt::print("{}", ExplainMappings(question.layers, network.architecture, network.constraints,
                                   OptionsOf(run, network.counting, network.mappings),
                                   question.known, accelerator::CostsByPart(costed))
                       .text);
}

}  // namespace

void PrintMapping(record::Store& store, const record::RunRecord& run, bool why) {
  const report::RunDigest digest(run);
  if (!digest.parts().empty()) {
    if (why) PrintWhyNetwork(store, run);
    return;
  }
  const std::optional<Found> found = BestMappingOf(store, run);
  if (!found) return;
  const mapspace::AnalyticalModel model = found->search.Model();
  const mapspace::Evaluation evaluation = model.Evaluate(found->mapping);
  const std::string nest =
      mapspace::PrintLoopNest(found->mapping, model.problem(), model.architecture());
  fmt::print("\n{}\n{}\n{}\n", report::InLines(nest),
             report::TrafficTable(evaluation, found->mapping, model.problem(), model.architecture())
                 .Text(),
             report::EvaluationLine(evaluation));
  if (why) PrintWhyOperation(run, *found);
}

}  // namespace bayloom::cli
