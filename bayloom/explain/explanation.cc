// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/explain/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bayloom/base/json.h"
#include "bayloom/explain/decision_text.h"
#include "bayloom/measure/measurement_details.h"
#include "bayloom/measure/roofline.h"
#include "bayloom/tuning/default_comparison.h"
#include "bayloom/tuning/restore.h"
#include "bayloom/tuning/zero_trial_program.h"

namespace bayloom::explain {
namespace {

/// The best trials that are looked at to find the best program's and the runner-up's.
constexpr int kCandidates = 16;

std::vector<MeasuredTrace> MeasuredTraces(const std::vector<record::StoredTrial>& trials) {
  std::vector<MeasuredTrace> traces;
  for (const record::StoredTrial& trial : trials) {
    if (!trial.outcome.ok() || trial.outcome.value <= 0) continue;
    if (measure::DetailsOf(trial.outcome).cut_short) continue;
    const nlohmann::json json = base::ParseJsonOrDiscard(trial.candidate);
    if (!json.is_object() || !json.contains("trace")) continue;
    Result<tensor::Trace> trace = tensor::Trace::FromJson(json["trace"]);
    if (trace) traces.push_back({*std::move(trace), trial.outcome.value});
  }
  return traces;
}

std::optional<Limits> LimitsOf(const sketch::SpaceGenerator& space, const tensor::Program& program,
                               double seconds) {
  if (!space.target().machine) return std::nullopt;
  const target::MachineModel machine = target::MachineOf(space.target());
  const measure::WorkloadDemand demand = measure::DemandOf(space.workload(), program);
  const measure::DotPeaks peaks = measure::NominalDotPeaks(space.target(), machine, demand);
  measure::WorkloadDemand arithmetic = demand, memory = demand;
  arithmetic.bytes = 0;
  memory.flops = 0;
  memory.dot_flops.clear();
  return Limits{seconds, measure::RooflineSeconds(machine, arithmetic, peaks),
                measure::RooflineSeconds(machine, memory, peaks)};
}

/// The default program's time over that of the best one, measured in turns.
std::optional<double> DefaultRatio(record::Store& store, record::TaskId task,
                                   record::TargetId target, uint64_t best) {
  const std::vector<record::StoredTrial> candidates = store.BestOf(task, target, kCandidates);
  const auto found = std::ranges::find(candidates, best, &record::StoredTrial::key);
  if (found == candidates.end()) return std::nullopt;
  const std::optional<tuning::DefaultComparison> compared =
      tuning::CompareWithDefault(store, *found);
  if (!compared || !compared->chosen) return std::nullopt;
  return compared->by_default.value / *compared->chosen;
}

/// What is decided otherwise, where both traces are of one design space.
std::vector<std::string> ChangedDecisions(const tensor::Trace& best, const tensor::Trace& other,
                                          const tensor::Workload& workload) {
  std::vector<std::string> changes;
  for (int step : best.SamplingSteps()) {
    const auto place = static_cast<size_t>(step);
    if (best.decisions()[place] == other.decisions()[place]) continue;
    const std::string theirs = DecisionText(other, step, workload);
    changes.push_back(fmt::format("{} instead of {}", DecisionText(best, step, workload),
                                  theirs.substr(theirs.rfind(": ") + 2)));
  }
  return changes;
}

std::optional<Rival> RunnerUp(record::Store& store, record::TaskId task, record::TargetId target,
                              const sketch::SpaceGenerator& space,
                              const tuning::MeasuredCandidate& best, const ProgramFacts& facts) {
  for (const record::StoredTrial& trial : store.BestOf(task, target, kCandidates)) {
    if (trial.key == best.candidate.hash) continue;
    const Result<sketch::Candidate> other = tuning::RestoreCandidate(space, trial);
    if (!other) continue;
    Rival rival{trial.outcome.value / best.outcome.value, {}};
    if (other->trace.SpaceHash() == best.candidate.trace.SpaceHash()) {
      rival.differences = ChangedDecisions(best.candidate.trace, other->trace, space.workload());
    } else {
      rival.differences = Differences(facts, FactsOf(other->program, space.target()));
    }
    return rival;
  }
  return std::nullopt;
}

nlohmann::json ToJson(const Redraws& redraws) {
  return {{"draws", redraws.draws},
          {"least", redraws.least},
          {"median", redraws.median},
          {"greatest", redraws.greatest}};
}

nlohmann::json ToJson(const Rival& rival) {
  return {{"ratio", rival.ratio ? nlohmann::json(*rival.ratio) : nlohmann::json()},
          {"differences", rival.differences}};
}

}  // namespace

Explanation Explain(record::Store& store, record::TaskId task, record::TargetId target,
                    const sketch::SpaceGenerator& space, const tuning::MeasuredCandidate& best) {
  Explanation explanation;
  explanation.seconds = best.outcome.value;
  explanation.is_plain = tuning::IsPlain(best.candidate);
  explanation.best = FactsOf(best.candidate.program, space.target());
  explanation.by_default = FactsOf(tuning::DefaultCandidate(space).program, space.target());
  explanation.techniques = Techniques(best.candidate.trace, best.candidate.program);
  explanation.limits = LimitsOf(space, best.candidate.program, best.outcome.value);
  explanation.influences =
      InfluenceOfDecisions(space, best.candidate, MeasuredTraces(store.TrialsOf(task, target)));
  explanation.beside_default = {DefaultRatio(store, task, target, best.candidate.hash),
                                Differences(explanation.best, explanation.by_default)};
  explanation.runner_up = RunnerUp(store, task, target, space, best, explanation.best);
  return explanation;
}

nlohmann::json ToJson(const Explanation& explanation) {
  nlohmann::json decisions = nlohmann::json::array();
  for (const DecisionInfluence& influence : explanation.influences.decisions) {
    decisions.push_back({{"step", influence.step},
                         {"decision", influence.decision},
                         {"estimated", ToJson(influence.estimated)}});
    if (!influence.index) continue;
    decisions.back()["share"] = influence.index->first.value;
    decisions.back()["share_with_interactions"] = influence.index->total.value;
    if (influence.learnt) decisions.back()["learnt"] = ToJson(*influence.learnt);
  }
  nlohmann::json json = {{"seconds", explanation.seconds},
                         {"techniques", explanation.techniques},
                         {"decisions", std::move(decisions)},
                         {"trials", explanation.influences.trials},
                         {"beside_default", ToJson(explanation.beside_default)},
                         {"sentences", Sentences(explanation)}};
  if (explanation.influences.rank_correlation) {
    json["rank_correlation"] = *explanation.influences.rank_correlation;
  }
  if (explanation.limits) {
    json["limits"] = {{"arithmetic", explanation.limits->arithmetic},
                      {"memory", explanation.limits->memory},
                      {"share", explanation.limits->share()}};
  }
  if (explanation.runner_up) json["runner_up"] = ToJson(*explanation.runner_up);
  return json;
}

}  // namespace bayloom::explain
