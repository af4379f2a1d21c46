// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/measure_evaluator.h"

#include <utility>

#include "bayloom/base/system_error.h"

namespace bayloom::tuning {
int MeasureEvaluator::Capacity() const { return kMaxInFlight; }

void MeasureEvaluator::Submit(trial::TrialId id, const ProgramTrial& trial) {
  waiting_.push_back({id, &trial});
}

void MeasureEvaluator::SetIncumbent(const tensor::Workload& workload,
                                    const tensor::Program& program, double seconds) {
  incumbents_.insert_or_assign(workload.StructuralHash(), Incumbent{program, seconds});
}

std::vector<trial::FinishedTrial> MeasureEvaluator::Collect(double,
                                                            const std::function<bool()>& stop) {
  if (waiting_.empty() && built_.empty()) return {};
  const trial::TrialId id = built_.empty() ? waiting_.front().id : built_.front().id;
  try {
    if (built_.empty()) BuildBatch(stop);
    Built& next = built_.front();
    const ProgramTrial& trial = *next.trial;
    const auto run = trial.is_repeat ? &measure::Measurer::Repeat : &measure::Measurer::Run;
    trial::Outcome outcome =
        (measurer_.*run)(*trial.workload, trial.candidate.program, next.build, stop);
    built_.pop_front();
    return {{id, std::move(outcome), {}}};
  } catch (const measure::Interrupted&) {
    return {};
  } catch (const SystemError& error) {
    if (built_.empty()) {
      waiting_.pop_front();
    } else {
      built_.pop_front();
    }
    return {{id, std::nullopt, error.what()}};
  }
}

void MeasureEvaluator::BuildBatch(const measure::StopCheck& stop) {
  const tensor::Workload& workload = *waiting_.front().trial->workload;
  if (const auto known = incumbents_.find(workload.StructuralHash()); known != incumbents_.end()) {
    measurer_.SetIncumbent(workload, known->second.program, known->second.seconds, stop);
    incumbents_.erase(known);
  }
  const auto [programs, place_of] = NextBatch(waiting_);
  std::vector<measure::Build> builds = measurer_.BuildAll(workload, programs, stop);
  for (const size_t place : place_of) {
    built_.push_back({waiting_.front().id, waiting_.front().trial, builds[place]});
    builds[place].seconds = 0;  // counts once
    waiting_.pop_front();
  }
}

void MeasureEvaluator::Cancel() {
  waiting_.clear();
  built_.clear();
}

}  // namespace bayloom::tuning
