// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/page/internal/program_details.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "bayloom/feature/code_estimate.h"
#include "bayloom/feature/program_features.h"
#include "bayloom/feature/time_estimate.h"
#include "bayloom/measure/measurement_details.h"
#include "bayloom/measure/roofline.h"
#include "bayloom/measure/timing.h"
#include "bayloom/page/internal/decision_text.h"
#include "bayloom/page/internal/shown.h"
#include "bayloom/tuning/restore.h"
#include "bayloom/tuning/untuned_program.h"

namespace bayloom::page {
namespace {

using Json = nlohmann::json;

/// Programs that are made to see what a decision is worth.
constexpr int kDrawsPerDecision = 12;

/// The row of a program's store that does most of its arithmetic.
std::span<const float> MainRow(const feature::FeatureMatrix& features) {
  const auto work = [&](int row) { return features.Row(row)[feature::kIterationsColumn]; };
  int main = 0;
  for (int row = 1; row < features.rows; ++row) {
    if (work(row) > work(main)) main = row;
  }
  return features.Row(main);
}

/// Features count on a logarithmic scale, log2(x + 1).
double Count(float feature) { return std::round(std::exp2(static_cast<double>(feature)) - 1); }

/// What a person can compare between two programs of a task.
Json FeaturesJson(const tensor::Program& program) {
  const feature::FeatureMatrix features = feature::ExtractFeatures(program);
  if (features.rows == 0) return Json::object();
  const std::span<const float> row = MainRow(features);
  double lines = 0, unique_lines = 0;
  for (int buffer = 0; buffer < feature::kDescribedBuffers; ++buffer) {
    using feature::BufferFeature;
    lines += Count(row[feature::BufferColumnOf(buffer, BufferFeature::kLines)]);
    unique_lines += Count(row[feature::BufferColumnOf(buffer, BufferFeature::kUniqueLines)]);
  }
  const auto product = [&](int column) {
    return Finite(Count(row[column + feature::kAnnotatedProduct]));
  };
  const int last_intensity = feature::kIntensityColumn + feature::kIntensitySamples - 1;
  return {{"iterations", Finite(Count(row[feature::kIterationsColumn]))},
          {"parallel", product(feature::kParallelColumn)},
          {"vectorized", product(feature::kVectorizedColumn)},
          {"unrolled", product(feature::kUnrolledColumn)},
          {"unroll_limit", Finite(Count(row[feature::kAutoUnrollColumn]))},
          {"cache_lines", Finite(lines)},
          {"distinct_cache_lines", Finite(unique_lines)},
          {"flops_per_byte", Finite(std::exp2(static_cast<double>(row[last_intensity])) - 1)}};
}

Json ProgramJson(const tensor::Program& program, const target::MachineModel& machine) {
  return {{"text", ShownLines(tensor::Print(program))},
          {"estimate", Finite(feature::EstimateTime(program, machine))},
          {"code_estimate", Finite(feature::EstimateCodeTime(program, machine))},
          {"features", FeaturesJson(program)}};
}

/// What the estimate says of each decision of a candidate: the time of programs in which it alone
/// is drawn again, over the candidate's own.
Json DecisionsJson(const sketch::SpaceGenerator& space, const sketch::Candidate& candidate,
                   const target::MachineModel& machine) {
  const double own = feature::EstimateCodeTime(candidate.program, machine);
  Json decisions = Json::array();
  for (const int step : candidate.trace.SamplingSteps()) {
    std::vector<double> ratios;
    for (int draw = 0; draw < kDrawsPerDecision; ++draw) {
      std::vector<std::optional<tensor::Decision>> kept = candidate.trace.decisions();
      kept[step].reset();
      const Result<sketch::Candidate> other =
          space.Replay(candidate.space, candidate.trace.WithDecisions(std::move(kept)),
                       base::RandomStream(static_cast<uint64_t>(draw)));
      if (!other || other->hash == candidate.hash) continue;
      ratios.push_back(feature::EstimateCodeTime(other->program, machine) / own);
    }
    decisions.push_back(
        {{"step", Shown(DecisionText(candidate.trace, step, space.workload()))},
         {"draws", ratios.size()},
         {"least", ratios.empty() ? Json() : Finite(std::ranges::min(ratios))},
         {"median", ratios.empty() ? Json() : Finite(measure::Quantile(ratios, 0.5))},
         {"greatest", ratios.empty() ? Json() : Finite(std::ranges::max(ratios))}});
  }
  return decisions;
}

/// What was measured of the best candidate, and of it beside the untuned program.
Json MeasurementJson(record::Store& store, const record::StoredTrial& best, double flops) {
  std::vector<double> chosen;
  Json untuned;
  for (const record::Repeat& repeat : store.LastComparison(best.task, best.target)) {
    if (!repeat.outcome.ok()) continue;
    if (repeat.trial_run == 0) untuned = Finite(repeat.outcome.value);
    if (repeat.trial_run == best.run && repeat.trial == best.ordinal) {
      chosen.push_back(repeat.outcome.value);
    }
  }
  return {{"run", best.run},
          {"trial", best.ordinal},
          {"seconds", Finite(best.outcome.value)},
          {"spread", Finite(measure::DetailsOf(best.outcome).spread)},
          {"rate", Finite(flops / best.outcome.value)},
          {"repeats", chosen.size()},
          {"beside_untuned",
           chosen.empty() ? Finite(best.outcome.value) : Finite(measure::Quantile(chosen, 0.5))},
          {"untuned_seconds", untuned}};
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
  const target::MachineModel machine = target::MachineOf(space.target());
  const double flops = space.workload().Flops();
  if (space.target().machine) {
    const measure::WorkloadDemand demand = measure::DemandOf(space.workload());
    details["roofline"] = Finite(measure::RooflineSeconds(
        machine, demand, measure::NominalDotPeaks(space.target(), machine, demand)));
  }
  details["untuned"] = ProgramJson(tuning::PlainCandidate(space).program, machine);
  const std::vector<record::StoredTrial> best = store.BestOf(task.id, target, 1);
  if (best.empty()) return details;
  details["measured"] = MeasurementJson(store, best[0], flops);
  const std::optional<tuning::MeasuredCandidate> restored = tuning::RestoreBest(store, space);
  if (!restored) {
    details["note"] = "no recorded program can be made again by this version";
    return details;
  }
  details["best"] = ProgramJson(restored->candidate.program, machine);
  details["best"]["seconds"] = Finite(restored->outcome.value);
  details["best"]["trace"] = ShownLines(restored->candidate.trace.Print());
  details["decisions"] = DecisionsJson(space, restored->candidate, machine);
  return details;
}

}  // namespace bayloom::page
