// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/mapper.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/mapper_context.h"
#include "bayloom/mapspace/mapping_json.h"
#include "bayloom/optimizer/optimizer.h"

namespace bayloom::mapspace {
namespace {

struct NamedMapper {
  std::string_view name;
  std::unique_ptr<Mapper> (*make)(const MapperContext&);
};

constexpr NamedMapper kMappers[] = {{"random-pruned", MakeRandomPrunedMapper},
                                    {"exhaustive", MakeExhaustiveMapper},
                                    {"exact", MakeExactMapper},
                                    {"genetic", MakeGeneticMapper},
                                    {"annealing", MakeAnnealingMapper}};

}  // namespace

double MapperResult::BestAfter(int64_t count) const {
  double after = std::numeric_limits<double>::quiet_NaN();
  for (const Improvement& improvement : improvements) {
    if (improvement.evaluations <= count) after = improvement.value;
  }
  return after;
}

std::vector<std::string> MapperNames() {
  std::vector<std::string> names;
  for (const NamedMapper& mapper : kMappers) names.emplace_back(mapper.name);
  for (std::string& optimizer : optimizer::Optimizers().Names()) {
    if (SearchesAnEncoding(optimizer)) names.push_back(std::move(optimizer));
  }
  return names;
}

std::vector<std::string> ExperimentalMapperNames() {
  return optimizer::Optimizers().ExperimentalNames();
}

bool SearchesAnEncoding(std::string_view name) {
  return std::ranges::find(kMappers, name, &NamedMapper::name) == std::end(kMappers);
}

MapperTask::MapperTask(std::string_view name, const Mapspace& mapspace,
                       const AnalyticalModel& model, trial::Evaluator<Mapping>& evaluator,
                       const MapperOptions& options, trial::TrialStore* store)
    : name_(name),
      context_(std::make_unique<MapperContext>(mapspace, model, options)),
      evaluator_(evaluator),
      store_(store) {
  if (SearchesAnEncoding(name) && !optimizer::Optimizers().Check(name)) {
    throw InputError(base::UnknownName("mapper", name, MapperNames()));
  }
  if (!SearchesAnEncoding(name) && options.objectives.size() > 1) {
    throw InputError(fmt::format(
        "the mapper '{}' minimizes one objective; optimizers such as bayesian minimize several",
        name));
  }
  const auto own = std::ranges::find(kMappers, name, &NamedMapper::name);
  mapper_ = own != std::end(kMappers) ? own->make(*context_) : MakeOptimizerMapper(*context_, name);
}

MapperTask::~MapperTask() = default;

void MapperTask::Suggest(const Mapping& mapping) { mapper_->Suggest(mapping); }

const MapperResult& MapperTask::result() const { return context_->result(); }

std::vector<std::string> MapperTask::TakeNotices() { return mapper_->TakeNotices(); }

void MapperTask::BeginSlot() {
  if (on_begin_) on_begin_();
}

std::vector<Mapping> MapperTask::Propose(int n, const std::function<bool()>& interrupted) {
  context_->SetInterrupted(interrupted);
  std::vector<Mapping> proposed;
  while (std::ssize(proposed) < n) {
    std::optional<Mapping> mapping = mapper_->Next(*context_);
    if (!mapping) break;
    if (context_->options().evaluate_once) {
      const auto [known, is_new] =
          known_.try_emplace(HashOf(*mapping, context_->mapspace().problem()));
      if (!is_new) {
        context_->CountDraw(false);
        if (context_->Done()) break;
        if (known->second) mapper_->Tell(*std::move(mapping), *known->second, *context_);
        continue;
      }
    }
    proposed.push_back(*std::move(mapping));
  }
  return proposed;
}

run::TrialValue MapperTask::Tell(Mapping&& mapping, const trial::Outcome& outcome, double) {
  if (context_->options().evaluate_once) {
    known_[HashOf(mapping, context_->mapspace().problem())] = outcome;
  }
  context_->Count(mapping, outcome);
  mapper_->Tell(std::move(mapping), outcome, *context_);
  run::TrialValue value;
  value.feasible = outcome.ok();
  if (outcome.ok()) value.cost = outcome.value;
  return value;
}

bool MapperTask::HasConverged() const {
  const MapperResult& result = context_->result();
  return context_->options().victory > 0 && !result.improvements.empty() &&
         result.evaluations - result.improvements.back().evaluations >= context_->options().victory;
}

trial::TrialRecord MapperTask::RecordOf(const Mapping& mapping) {
  const Mapspace& mapspace = context_->mapspace();
  trial::TrialRecord record;
  record.candidate =
      ToJson(mapping, mapspace.problem(), mapspace.architecture()).at("levels").dump();
  record.proposer = name_;
  return record;
}

MapperResult RunMapper(std::string_view name, const Mapspace& mapspace,
                       const AnalyticalModel& model, trial::Evaluator<Mapping>& evaluator,
                       const MapperOptions& options) {
  MapperTask task(name, mapspace, model, evaluator, options);
  run::ScheduledRun<Mapping> run({.budget = options.run.budget, .scheduler = "round-robin"});
  run.AddTask(task, {.name = std::string(name)});
  const trial::StopReason end = run.Run();
  MapperResult result = task.result();
  result.seconds = run.Status().seconds;
  result.end = end;
  return result;
}

}  // namespace bayloom::mapspace
