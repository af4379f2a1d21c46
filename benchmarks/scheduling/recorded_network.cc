// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/scheduling/recorded_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "bayloom/base/result.h"
#include "bayloom/measure/measurement_details.h"
#include "bayloom/measure/roofline.h"
#include "bayloom/record/store.h"
#include "bayloom/target/target.h"
#include "bayloom/tuning/session_state.h"

namespace bayloom {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Seconds of tuning that the trials of a slot took, by trial. Where the session stood still (it
/// was interrupted), compiling and measuring stand for all.
double SecondsATrial(std::span<const record::StoredTrial> slot, int64_t begun) {
  double working = 0;
  for (const record::StoredTrial& trial : slot) {
    const measure::MeasurementDetails details = measure::DetailsOf(trial.outcome);
    working += details.build_seconds + details.measure_seconds;
  }
  const double elapsed = 1e-6 * static_cast<double>(slot.back().timestamp - begun);
  return std::min(elapsed, 3 * working + 1) / static_cast<double>(slot.size());
}

void AddTrials(std::span<const record::StoredTrial> slot, int64_t begun, RecordedCurve& curve) {
  const double seconds = SecondsATrial(slot, begun);
  for (const record::StoredTrial& trial : slot) {
    double best = curve.best_after_trial.empty() ? kInfinity : curve.best_after_trial.back();
    if (trial.outcome.ok() && !measure::DetailsOf(trial.outcome).cut_short) {
      best = std::min(best, trial.outcome.value);
    }
    curve.best_after_trial.push_back(best);
    curve.trial_seconds.push_back(seconds);
  }
}

std::map<record::TaskId, RecordedCurve> CurvesOf(const record::RunRecord& session,
                                                 const std::vector<record::StoredTrial>& trials) {
  std::map<record::TaskId, RecordedCurve> curves;
  int64_t before = session.started;
  for (size_t begin = 0; begin < trials.size();) {
    size_t end = begin;
    while (end < trials.size() && trials[end].task == trials[begin].task) ++end;
    AddTrials(std::span(trials).subspan(begin, end - begin), before, curves[trials[begin].task]);
    before = trials[end - 1].timestamp;
    begin = end;
  }
  return curves;
}

RecordedOperator& FindOrAdd(RecordedNetwork& network, const RecordedOperator& task,
                            std::map<uint64_t, size_t>& places, uint64_t hash) {
  const auto [place, is_new] = places.emplace(hash, network.tasks.size());
  if (is_new) network.tasks.push_back(task);
  return network.tasks[place->second];
}

}  // namespace

double RecordedCurve::FirstCost() const {
  const auto first = std::find_if(best_after_trial.begin(), best_after_trial.end(),
                                  [](double seconds) { return seconds < kInfinity; });
  return first == best_after_trial.end() ? kInfinity : *first;
}

std::vector<RecordedNetwork> LoadRecordedNetworks(std::span<const std::string> stores,
                                                  double peak_flops_per_second) {
  std::vector<RecordedNetwork> networks;
  std::map<std::string, std::map<uint64_t, size_t>> places;  // of the tasks, by network
  for (const std::string& path : stores) {
    record::Store store(path, record::Store::Mode::kReadOnly);
    for (const record::RunRecord& session : store.Runs(record::RunKind::kTune)) {
      const auto state = tuning::SessionState::Parse(session.state);
      if (!state || state->weights.empty() || !session.target) {
        throw InputError(
            fmt::format("{}: session {} has no weights or no target", path, session.id));
      }
      auto network = std::find_if(networks.begin(), networks.end(),
                                  [&](const RecordedNetwork& n) { return n.name == session.name; });
      if (network == networks.end()) network = networks.insert(network, {session.name, {}});
      const target::MachineModel machine = target::MachineOf(store.TargetOf(*session.target));
      const auto curves = CurvesOf(session, store.TrialsOfRun(session.id));
      for (const record::TaskRecord& record : store.Tasks()) {
        const auto curve = curves.find(record.id);
        const auto weight = state->weights.find(record.id);
        if (curve == curves.end() || weight == state->weights.end()) continue;
        const tensor::Workload workload = store.WorkloadOf(record.id);
        FindOrAdd(*network,
                  {record.name,
                   weight->second,
                   workload.Flops(),
                   workload.Flops() / peak_flops_per_second,
                   measure::RooflineSeconds(machine, measure::DemandOf(workload)),
                   {}},
                  places[session.name], record.workload_hash)
            .curves.push_back(curve->second);
      }
    }
  }
  return networks;
}

}  // namespace bayloom
