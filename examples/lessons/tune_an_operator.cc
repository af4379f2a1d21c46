// Lesson 2: tuning, from the inside: a task, an evaluator, a store, and the session that ties
// them together.

#include <fmt/core.h>

#include "bayloom/codegen/host.h"
#include "bayloom/cost/xgboost_model.h"
#include "bayloom/measure/runner_main.h"
#include "bayloom/tensor/operator_shorthand.h"
#include "bayloom/tuning/measure_evaluator.h"
#include "bayloom/tuning/session.h"

using namespace bayloom;

int main(int argc, char** argv) {
  // Candidates run in another process, which is this program started again.
  if (const std::optional<int> code = RunAsRunner(argc, argv)) return *code;

  // A task is a workload and a name.
  const Target target = HostTarget(1);
  const Workload workload = ParseOperator("matmul:128,128,128,bias,relu");

  // Every trial is in the store before anything is learnt from it. A path here instead of memory
  // keeps it for good.
  Store store(":memory:");

  // The evaluator compiles and times; the cost model learns what makes programs fast.
  Measurer measurer(target, {});
  MeasureEvaluator evaluator(measurer);
  XgboostModel model;

  SessionOptions options;
  options.model = "lesson";
  options.budget.trials = 32;
  options.trials_per_slot = 16;
  options.evolutionary.population = 64;
  Session session(target, {{"product", workload, 1}}, store, &model, evaluator, options);
  const SessionObserver observer = {nullptr, [](const SessionStatus& status) {
                                      fmt::print("{} trials: best {:.1f} us\n", status.trials,
                                                 status.total_seconds * 1e6);
                                    }};
  session.Run(observer);

  const std::optional<MeasuredCandidate>& best = session.tasks()[0]->best();
  if (!best) return 1;
  fmt::print("\n{}\n", Print(best->candidate.program));
  fmt::print("{}", best->candidate.trace.Print());
  return 0;
}
