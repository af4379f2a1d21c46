// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/cost/pretrained_model.h"
#include "bayloom/cost/throughput_model.h"
#include "bayloom/cost/xgboost_model.h"
#include "bayloom/measure/measure_machine.h"
#include "bayloom/measure/trial_rate.h"

namespace bayloom::tuning {
namespace {

constexpr int64_t kNetworkTrials = 1000;
constexpr int64_t kOperatorTrials = 256;
/// Where a session keeps the peak that its scheduler knows.
constexpr const char* kPeak = "peak_flops_per_second";

std::optional<record::RunRecord> LastSession(record::Store& store, const std::string& subject,
                                             const target::Target& target) {
  const std::optional<record::TargetId> id = store.FindTarget(target);
  std::optional<record::RunRecord> last;
  for (record::RunRecord& session : store.Runs(record::RunKind::kTune)) {
    if (session.name == subject && session.target == id) last = std::move(session);
  }
  return last;
}

/// What a session was begun with, which what is asked for now must agree with.
std::string Agreed(const std::optional<std::string>& given, const nlohmann::json& begun,
                   const std::string& what) {
  const std::string before = begun.value(what, "");
  if (given && *given != before) {
    throw InputError(fmt::format("cannot resume: the session was begun with the {} '{}', not '{}'",
                                 what, before, *given));
  }
  return before;
}

/// The machine's peak as the session was begun with, so that resumed it expects the same; measured
/// where it is not known. nullopt where nobody wants it.
std::optional<double> PeakFor(const std::string& scheduler, const nlohmann::json& begun,
                              const target::Target& target) {
  if (!scheduling::UsesLowerBounds(scheduler)) return std::nullopt;
  if (begun.contains(kPeak)) return begun[kPeak].get<double>();
  const Result<target::MachineModel> machine = measure::MeasuredMachineOf(target);
  if (!machine) throw InputError(machine.error().message);
  return machine->PeakFlops();
}

/// Null for a strategy that asks none.
std::unique_ptr<cost::CostModel> MakeCostModel(const std::string& strategy,
                                               const std::string& file) {
  if (strategy == "random") return nullptr;
  if (!file.empty()) return std::make_unique<cost::PretrainedModel>(cost::ReadModelFile(file));
  return std::make_unique<cost::XgboostModel>();
}

/// The budget, with the trials and the slots that go with it.
void SetBudget(const TuneOptions& options, const TuningSubject& subject,
               const target::Target& target, SessionOptions& session) {
  session.budget = options.budget;
  if (options.budget.trials != trial::Budget::kUnlimited) return;
  if (std::isinf(options.budget.seconds)) {
    session.budget.trials = subject.is_operator ? kOperatorTrials : kNetworkTrials;
    return;
  }
  const double rate = measure::TrialsPerSecond(target::MachineOf(target), target.cores);
  const double two_turns_each =
      rate * options.budget.seconds / (2 * static_cast<double>(subject.specs.size()));
  session.trials_per_slot = static_cast<int>(std::clamp(two_turns_each, 8.0, 64.0));
}

}  // namespace

Tuning::Tuning(TuningSubject subject, const target::Target& target, record::Store& store,
               ProgramEvaluator& evaluator, TuneOptions options) {
  const std::optional<record::RunRecord> resumed =
      options.resume ? LastSession(store, subject.name, target) : std::nullopt;
  resumed_ = resumed.has_value();
  SessionOptions session;
  session.model = subject.name;
  session.seed = options.seed;
  std::string cost_model = options.cost_model.value_or("");
  nlohmann::json begun;
  if (resumed) {
    begun = nlohmann::json::parse(resumed->definition, nullptr, /*allow_exceptions=*/false);
    session.strategy = Agreed(options.strategy, begun, "strategy");
    session.scheduler = Agreed(options.scheduler, begun, "scheduler");
    cost_model = Agreed(options.cost_model, begun, "cost-model");
    session.resume = resumed->id;
  } else {
    session.strategy = options.strategy.value_or(session.strategy);
    session.scheduler = options.scheduler.value_or(session.scheduler);
  }
  nlohmann::json description = {{"strategy", session.strategy}, {"scheduler", session.scheduler}};
  if (!cost_model.empty()) description["cost-model"] = cost_model;
  if (const auto peak = PeakFor(session.scheduler, begun, target)) {
    description[kPeak] = *peak;
    for (TaskSpec& spec : subject.specs) spec.lower_bound = spec.workload.Flops() / *peak;
  }
  session.description = description.dump();
  SetBudget(options, subject, target, session);
  cost_model_ = MakeCostModel(session.strategy, cost_model);
  session_ = std::make_unique<Session>(target, std::move(subject.specs), store, cost_model_.get(),
                                       evaluator, std::move(session));
}

}  // namespace bayloom::tuning
