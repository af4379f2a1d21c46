#pragma once

#include "bayloom/measure/measurer.h"
#include "bayloom/tuning/evaluator.h"

namespace bayloom {

/// Tries candidates on this machine, in another process (measure/measurer.h).
class MeasuredEvaluator : public Evaluator {
 public:
  MeasuredEvaluator(Target target, MeasureOptions options)
      : measurer_(std::move(target), std::move(options)) {}

  /// Compiles and runs a few candidates at a time; `context.stop` is looked at in between, a
  /// stop requested by signal after every candidate.
  void Evaluate(const Workload& workload, std::span<const Candidate> candidates,
                const EvaluationContext& context, const Report& report) override;

  Measurer& measurer() { return measurer_; }

 private:
  Measurer measurer_;
};

}  // namespace bayloom
