// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "bayloom/record/store.h"

namespace bayloom::record {

inline tensor::Workload Matmul(int64_t m, int64_t n, int64_t k) {
  tensor::WorkloadBuilder b("matmul");
  tensor::Tensor x = b.Input("x", {m, k});
  tensor::Tensor w = b.Constant("w", {k, n});
  tensor::Tensor c =
      b.Reduce("c", {m, n}, {{"k", k}}, tensor::Reduction::kSum,
               [&](const auto& s, const auto& r) { return x(s[0], r[0]) * w(r[0], s[1]); });
  return b.Build({c});
}

inline target::Target SampleTarget(int cores = 2) {
  target::Target target;
  target.name = "sample";
  target.triple = "x86_64-pc-linux-gnu";
  target.cpu = "znver3";
  target.features = "+avx2,+fma";
  target.cores = cores;
  return target;
}

/// A store's rows to hang trials on.
struct Context {
  TargetId target;
  TaskId task;
  RunId run;

  explicit Context(Store& store)
      : target(store.AddTarget(SampleTarget())), task(store.AddTask(Matmul(4, 8, 16))) {
    RunRecord record;
    record.kind = RunKind::kTune;
    record.name = "m.onnx";
    record.definition = R"({"trials":64})";
    record.target = target;
    record.objective = "seconds";
    record.seed = 0xfedcba9876543210;
    run = store.BeginRun(record).id;
  }
};

/// A trial of a schedule.
inline StoredTrial MakeTrial(const Context& context, int64_t ordinal, double seconds) {
  StoredTrial trial;
  trial.run = context.run;
  trial.task = context.task;
  trial.target = context.target;
  trial.ordinal = ordinal;
  trial.proposer = "random";
  trial.candidate = R"({"space":1,"trace":{"steps":[1,2,)" + std::to_string(ordinal) + "]}}";
  trial.key = 0x9000000000000000 + static_cast<uint64_t>(ordinal);
  trial.outcome.value = seconds;
  trial.outcome.values = {{"build_seconds", 0.5}, {"measure_seconds", 0.125}, {"spread", 0.25}};
  trial.elapsed = 0.5 * static_cast<double>(ordinal);
  trial.timestamp = 1700000000000000 + ordinal;
  return trial;
}

/// The candidate of a trial by MakeTrial measured again, after all of the run's trials.
inline Repeat MakeRepeat(const Context& context, int64_t trial, int round, double seconds) {
  Repeat repeat;
  repeat.run = repeat.trial_run = context.run;
  repeat.after = 6;
  repeat.task = context.task;
  repeat.target = context.target;
  repeat.trial = trial;
  repeat.round = round;
  repeat.outcome.value = seconds;
  repeat.outcome.values = {{"spread", 0.125}};
  repeat.timestamp = 1700000000001000 + round;
  return repeat;
}

/// A run of a scenario, to be begun.
inline RunRecord SampleSearch(const std::string& name) {
  RunRecord run;
  run.kind = RunKind::kSearch;
  run.name = name;
  run.definition = "parameters:\n  x: {type: integer, range: [1, 9]}\n";
  run.objective = "speed";
  run.maximize = true;
  run.proposer = "bayesian";
  run.seed = ~uint64_t{0};
  return run;
}

/// A trial of a configuration.
inline StoredTrial MakeConfiguration(RunId run, int64_t ordinal, double value) {
  StoredTrial trial;
  trial.run = run;
  trial.ordinal = ordinal;
  trial.candidate = R"({"order":[1,0],"x":)" + std::to_string(ordinal) + "}";
  trial.proposer = "bayesian";
  trial.outcome.value = value;
  trial.elapsed = 1.5;
  return trial;
}

}  // namespace bayloom::record
