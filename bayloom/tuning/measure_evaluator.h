#pragma once

#include <unordered_set>

#include "bayloom/measure/measurer.h"
#include "bayloom/tuning/evaluator.h"

namespace bayloom {

/// Compiles candidates and times them on this machine, a few at a time so that a stop request or
/// the end of the time budget is noticed soon. Compiling and timing take turns: while a candidate
/// is timed nothing else runs.
class MeasureEvaluator final : public Evaluator {
 public:
  /// `measurer` must outlive the evaluator.
  explicit MeasureEvaluator(Measurer& measurer) : measurer_(measurer) {}

  double Evaluate(const Workload& workload, std::span<const Candidate> candidates,
                  const EvaluationContext& context, const Report& report) override;

 private:
  Measurer& measurer_;
  std::unordered_set<uint64_t> met_;  ///< structural hashes of the workloads evaluated so far
};

}  // namespace bayloom
