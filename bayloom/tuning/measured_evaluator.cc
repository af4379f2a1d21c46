#include "bayloom/tuning/measured_evaluator.h"

#include <algorithm>
#include <vector>

namespace bayloom {
namespace {

/// Enough to keep all cores compiling, few enough to end soon after the time is up.
constexpr size_t kCandidatesAtATime = 16;

}  // namespace

void MeasuredEvaluator::Evaluate(const Workload& workload, std::span<const Candidate> candidates,
                                 const EvaluationContext& context, const Report& report) {
  for (size_t first = 0; first < candidates.size() && !context.stop();
       first += kCandidatesAtATime) {
    std::vector<const Program*> programs;
    const size_t last = std::min(first + kCandidatesAtATime, candidates.size());
    for (size_t i = first; i < last; ++i) programs.push_back(&candidates[i].program);
    measurer_.Measure(workload, programs, [&](size_t i, const Outcome& outcome) {
      report(static_cast<int>(first + i), outcome);
    });
  }
}

}  // namespace bayloom
