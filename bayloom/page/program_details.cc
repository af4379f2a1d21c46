// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/page/program_details.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "bayloom/explain/explanation.h"
#include "bayloom/measure/measurement_details.h"
#include "bayloom/measure/roofline.h"
#include "bayloom/page/sanitized.h"
#include "bayloom/tuning/default_comparison.h"
#include "bayloom/tuning/restore.h"
#include "bayloom/tuning/zero_trial_program.h"

namespace bayloom::page {
namespace {

using Json = nlohmann::json;

Json ProgramJson(const tensor::Program& program, const explain::ProgramFacts& facts) {
  return {{"text", SanitizedLines(tensor::Print(program))},
          {"estimate", Finite(facts.estimate)},
          {"code_estimate", Finite(facts.code_estimate)},
          {"features", explain::ToJson(facts)}};
}

/// Why it is fast; names of blocks and axes are those of the model.
Json WhyJson(const explain::Explanation& explanation) {
  Json why = explain::ToJson(explanation);
  for (Json& decision : why["decisions"]) {
    decision["decision"] = Sanitized(decision["decision"].get<std::string>());
  }
  for (Json& sentence : why["sentences"]) sentence = Sanitized(sentence.get<std::string>());
  for (const char* rival : {"beside_default", "runner_up"}) {
    if (!why.contains(rival)) continue;
    for (Json& phrase : why[rival]["differences"]) phrase = Sanitized(phrase.get<std::string>());
  }
  return why;
}

/// What was measured of the best candidate, and of it beside the default program.
Json MeasurementJson(record::Store& store, const record::StoredTrial& best, double flops) {
  const std::optional<tuning::DefaultComparison> compared = tuning::CompareWithDefault(store, best);
  const double seconds = best.outcome.value;
  return {{"run", best.run},
          {"trial", best.ordinal},
          {"seconds", Finite(seconds)},
          {"spread", Finite(measure::DetailsOf(best.outcome).spread)},
          {"rate", Finite(flops / seconds)},
          {"repeats", compared ? compared->repeats : 0},
          {"beside_default", Finite(compared ? compared->BestSeconds() : seconds)},
          {"default_seconds", compared ? Finite(compared->by_default.value) : Json()}};
}

/// The least seconds that the machine's limits allow, by the program's own algorithm where there is
/// one (measure/roofline.h); null where the machine is not known.
Json RooflineJson(const sketch::SpaceGenerator& space, const tensor::Program* program) {
  if (!space.target().machine) return {};
  const target::MachineModel machine = target::MachineOf(space.target());
  const measure::WorkloadDemand demand = program != nullptr
                                             ? measure::DemandOf(space.workload(), *program)
                                             : measure::DemandOf(space.workload());
  return Finite(measure::RooflineSeconds(
      machine, demand, measure::NominalDotPeaks(space.target(), machine, demand)));
}

}  // namespace

std::string ProgramDetailsKey(record::Store& store, record::TaskId task, record::TargetId target) {
  const std::vector<record::StoredTrial> best = store.BestOf(task, target, 1);
  if (best.empty()) return "none";
  return fmt::format("{}.{}.{}.{}", best[0].run, best[0].ordinal, best[0].outcome.value,
                     store.LastComparison(task, target).size());
}

nlohmann::json ProgramDetails(record::Store& store, const record::TaskRecord& task,
                              record::TargetId target) {
  Json details = {
      {"id", fmt::format("{}@{}", task.id, target)}, {"task", task.id}, {"target", target}};
  const sketch::SpaceGenerator space(store.WorkloadOf(task.id), store.TargetOf(target));
  const double flops = space.workload().Flops();
  const tensor::Program by_default = tuning::DefaultCandidate(space).program;
  details["by_default"] = ProgramJson(by_default, explain::FactsOf(by_default, space.target()));
  details["roofline"] = RooflineJson(space, nullptr);
  const std::vector<record::StoredTrial> best = store.BestOf(task.id, target, 1);
  if (best.empty()) return details;
  details["measured"] = MeasurementJson(store, best[0], flops);
  const std::optional<tuning::MeasuredCandidate> restored = tuning::RestoreBest(store, space);
  if (!restored) {
    details["note"] = "no recorded program can be made again by this version";
    return details;
  }
  details["roofline"] = RooflineJson(space, &restored->candidate.program);
  const explain::Explanation explanation =
      explain::Explain(store, task.id, target, space, *restored);
  details["best"] = ProgramJson(restored->candidate.program, explanation.best);
  details["best"]["seconds"] = Finite(restored->outcome.value);
  details["best"]["trace"] = SanitizedLines(restored->candidate.trace.Print());
  details["why"] = WhyJson(explanation);
  if (tuning::IsPlain(restored->candidate)) {
    details["note"] = "the default program is the fastest, and what is compiled";
  }
  return details;
}

}  // namespace bayloom::page
