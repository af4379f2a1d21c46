#pragma once

#include <functional>
#include <span>

#include "bayloom/sketch/design_space.h"
#include "bayloom/space/outcome.h"
#include "bayloom/tuning/measured_candidate.h"

namespace bayloom {

/// What an evaluator may want to know beside the candidates.
struct EvaluationContext {
  /// The task's best program so far; null if there is none.
  const MeasuredCandidate* best = nullptr;
  /// Looked at every now and then: once true, no further candidate is begun.
  std::function<bool()> stop;
};

/// Tries candidates on the real thing (or on something that stands for it in a test).
class Evaluator {
 public:
  /// Called once per candidate tried, by its index, as soon as its outcome is known and from the
  /// thread that called Evaluate.
  using Report = std::function<void(int, const Outcome&)>;

  virtual ~Evaluator() = default;
  /// Tries the candidates, all of one task, in order as far as `context.stop` lets it. Returns
  /// the wall-clock seconds of this that went into compiling.
  virtual double Evaluate(const Workload& workload, std::span<const Candidate> candidates,
                          const EvaluationContext& context, const Report& report) = 0;
};

}  // namespace bayloom
