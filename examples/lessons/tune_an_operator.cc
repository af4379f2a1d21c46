// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Lesson 2: tuning, from the inside: a task, an evaluator, a store, and the session that ties
// them together.

#include <fmt/core.h>

#include "bayloom/codegen.h"
#include "bayloom/cost.h"
#include "bayloom/measure.h"
#include "bayloom/tensor.h"
#include "bayloom/tuning.h"

using namespace bayloom;

int main(int argc, char** argv) {
  // Candidates run in another process, which is this program started again.
  if (const std::optional<int> code = measure::RunAsRunner(argc, argv)) return *code;

  // A task is a workload and a name.
  const Target target = HostTarget(1);
  const Workload workload = ParseOperator("matmul:128,128,128,bias,relu");

  // Every trial is in the store before anything is learnt from it. A path here instead of memory
  // keeps it for good.
  Store store(":memory:");

  // The evaluator compiles and times; the cost model learns what makes programs fast.
  Measurer measurer(target, {});
  MeasureEvaluator evaluator(measurer);
  cost::XgboostModel model;

  tuning::SessionOptions options;
  options.model = "lesson";
  options.run.budget.trials = 32;
  options.run.trials_per_slot = 16;
  options.evolutionary.population = 64;
  tuning::Session session(target, {{"product", workload, 1}}, store, &model, evaluator, options);
  const tuning::SessionObserver observer = {nullptr, [](const tuning::SessionStatus& status) {
                                              fmt::print("{} trials: best {:.1f} us\n",
                                                         status.trials, status.total_seconds * 1e6);
                                            }};
  session.Run(observer);

  const std::optional<tuning::MeasuredCandidate>& best = session.tasks()[0]->best();
  if (!best) return 1;
  fmt::print("\n{}\n", tensor::Print(best->candidate.program));
  fmt::print("{}", best->candidate.trace.Print());
  return 0;
}
