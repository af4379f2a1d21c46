// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/strategy/mutator.h"

namespace bayloom::strategy {
namespace {

/// Draws before concluding that the present place is the only legal one.
constexpr int kDraws = 16;

class ComputeLocationMutator final : public Mutator {
 public:
  explicit ComputeLocationMutator(const tensor::Workload& workload) : workload_(workload) {}

  std::string name() const override { return "compute_location"; }

  std::optional<tensor::Trace> Mutate(const sketch::Candidate& parent,
                                      base::RandomStream& random) const override {
    const tensor::Trace& trace = parent.trace;
    std::vector<int> steps;
    for (int step : trace.SamplingSteps()) {
      if (trace.instructions()[step].kind == tensor::InstructionKind::kSampleComputeLocation) {
        steps.push_back(step);
      }
    }
    if (steps.empty()) return std::nullopt;
    const int step = steps[random.UniformInt(static_cast<int64_t>(steps.size()))];
    std::optional<tensor::Schedule> before = ReplayUntil(trace, step, random);
    if (!before) return std::nullopt;
    for (int draw = 0; draw < kDraws; ++draw) {
      tensor::Schedule after = *before;
      after.random() = random.Fork();
      if (!after.Apply(trace.instructions()[step], nullptr)) return std::nullopt;
      const tensor::Decision& drawn = *after.trace().decisions()[step];
      if (drawn != *trace.decisions()[step]) return trace.WithDecision(step, drawn);
    }
    return std::nullopt;
  }

 private:
  /// The workload scheduled by the trace's instructions before `step`.
  std::optional<tensor::Schedule> ReplayUntil(const tensor::Trace& trace, int step,
                                              base::RandomStream& random) const {
    tensor::Schedule schedule(workload_, random.Next());
    for (int i = 0; i < step; ++i) {
      const std::optional<tensor::Decision>& decision = trace.decisions()[i];
      if (!schedule.Apply(trace.instructions()[i], decision ? &*decision : nullptr)) {
        return std::nullopt;
      }
    }
    return schedule;
  }

  const tensor::Workload& workload_;
};

}  // namespace

std::unique_ptr<Mutator> MakeComputeLocationMutator(const tensor::Workload& workload) {
  return std::make_unique<ComputeLocationMutator>(workload);
}

}  // namespace bayloom::strategy
