#include "bayloom/tuning/measure_evaluator.h"

#include <algorithm>
#include <vector>

namespace bayloom {
namespace {

/// Candidates compiled before they are timed: enough to keep all compiling threads busy.
constexpr size_t kChunk = 16;

}  // namespace

double MeasureEvaluator::Evaluate(const Workload& workload, std::span<const Candidate> candidates,
                                  const EvaluationContext& context, const Report& report) {
  const double compiled_before = measurer_.statistics().build_seconds;
  // A best program from an earlier run: slow candidates are cut short by its time.
  if (met_.insert(workload.StructuralHash()).second && context.best != nullptr) {
    measurer_.SetIncumbent(workload, context.best->candidate.program, context.best->outcome.value);
  }
  for (size_t begin = 0; begin < candidates.size() && !context.stop(); begin += kChunk) {
    std::vector<const Program*> programs;
    for (size_t i = begin; i < std::min(begin + kChunk, candidates.size()); ++i) {
      programs.push_back(&candidates[i].program);
    }
    measurer_.Measure(workload, programs, [&](size_t i, const Outcome& outcome) {
      report(static_cast<int>(begin + i), outcome);
    });
  }
  return measurer_.statistics().build_seconds - compiled_before;
}

}  // namespace bayloom
