#pragma once

#include <string>

#include "bayloom/record/store.h"

namespace bayloom {

inline Workload Matmul(int64_t m, int64_t n, int64_t k) {
  WorkloadBuilder b("matmul");
  Tensor x = b.Input("x", {m, k});
  Tensor w = b.Constant("w", {k, n});
  Tensor c = b.Reduce("c", {m, n}, {{"k", k}}, Reduction::kSum,
                      [&](const auto& s, const auto& r) { return x(s[0], r[0]) * w(r[0], s[1]); });
  return b.Build({c});
}

inline Target SampleTarget(int cores = 2) {
  Target target;
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
  SessionId session;

  explicit Context(Store& store)
      : target(store.AddTarget(SampleTarget())),
        task(store.AddTask(Matmul(4, 8, 16))),
        session(store.BeginSession(target, "m.onnx", R"({"trials":64})", 0xfedcba9876543210)) {}
};

inline Trial MakeTrial(const Context& context, int64_t ordinal, double seconds) {
  Trial trial;
  trial.session = context.session;
  trial.task = context.task;
  trial.target = context.target;
  trial.ordinal = ordinal;
  trial.strategy = "random";
  trial.space = 1;
  trial.trace = R"({"steps":[1,2,)" + std::to_string(ordinal) + "]}";
  trial.program_hash = 0x9000000000000000 + static_cast<uint64_t>(ordinal);
  trial.outcome.value = seconds;
  trial.outcome.spread = 0.25;
  trial.outcome.build_seconds = 0.5;
  trial.outcome.measure_seconds = 0.125;
  trial.timestamp = 1700000000000000 + ordinal;
  return trial;
}

}  // namespace bayloom
