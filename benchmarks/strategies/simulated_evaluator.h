#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "bayloom/base/hash.h"
#include "bayloom/base/random.h"
#include "bayloom/tuning/evaluator.h"
#include "tests/search/simulated_machine.h"

namespace bayloom {

/// Runs programs on the SimulatedMachine: at once, with a noise of one percent.
class SimulatedEvaluator final : public Evaluator {
 public:
  double Evaluate(const Workload&, std::span<const Candidate> candidates,
                  const EvaluationContext& context, const Report& report) override {
    for (size_t i = 0; i < candidates.size() && !context.stop(); ++i) {
      RandomStream random(Hasher().Add(candidates[i].hash).Add(uint64_t{1}).Digest());
      Outcome outcome;
      outcome.value =
          SimulatedMachine::Run(candidates[i].program) * std::exp(0.01 * random.Normal());
      report(static_cast<int>(i), outcome);
    }
    return 0;
  }
};

}  // namespace bayloom
