// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/codegen/host.h"
#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/executor.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/random_inputs.h"
#include "bayloom/graph/tasks.h"
#include "bayloom/sketch/default_schedule.h"
#include "tests/graph/text_models.h"

namespace bayloom::graph {

struct ScheduledModel {
  std::string name;
  std::vector<Symbol> symbols;
  std::string text;
  std::vector<std::vector<int64_t>> lengths;  ///< to try
};
inline void PrintTo(const ScheduledModel& network, std::ostream* out) { *out << network.name; }

inline std::vector<ScheduledModel> ScheduledModels() {
  return {
      {"attention",
       {{"s", 2, 40}},
       "g (float[1, s, 16] x) => (float[1, s, 16] z) { k = Transpose<perm = [0, 2, 1]>(x) "
       "a = MatMul(x, k) p = Softmax<axis = -1>(a) z = MatMul(p, x) }",
       {{40}, {2}, {15}, {16}, {17}, {31}, {33}}},
      {"image",
       {{"h", 8, 64, 8}, {"w", 8, 48, 8}},
       "g (float[1, 3, h, w] x) => (float[1, 4, i, j] y, float[1, 4, 1, 1] z) "
       "<float[4, 3, 3, 3] k = {" +
           [] {
             std::string numbers = "1";
             for (int i = 1; i < 108; ++i) numbers += "," + std::to_string(i % 7 - 3);
             return numbers;
           }() +
           "}> { c = Conv<pads = [1, 1, 1, 1]>(x, k) r = Relu(c) "
           "y = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(r) z = GlobalAveragePool(r) }",
       {{64, 48}, {8, 8}, {24, 40}, {64, 8}, {16, 48}}},
      {"append",
       {{"p", 0, 9}, {"s", 1, 6}},
       "g (float[2, p, 3] x, float[2, s, 3] y) => (float[2, t, 3] z, float[2, 3] m) "
       "{ z = Concat<axis = 1>(x, y) m = ReduceMean<axes = [1], keepdims = 0>(z) }",
       {{9, 6}, {0, 1}, {1, 5}, {9, 1}}},
      {"causal_attention",
       {{"s", 2, 520}},
       "g (float[1, s, 4] x) => (float[1, s, 4] z) <int64 place = {1}, int64 zero = {0}, "
       "int64 one = {1}, int64[1] a = {1}, float low = {-3e38}> { k = Transpose<perm = "
       "[0, 2, 1]>(x) m = MatMul(x, k) h = Shape(x) n = Gather(h, place) r = Range(zero, n, one) "
       "u = Unsqueeze(r, a) l = LessOrEqual(r, u) w = Where(l, m, low) p = Softmax<axis = -1>(w) "
       "z = MatMul(p, x) }",
       {{520}, {2}, {255}, {256}, {257}, {400}}},
      {"steps",
       {{"s", 1, 20}},
       "g (float[s, 1, 3] x, float[2, 64, 3] w, float[2, 64, 16] r) => "
       "(float[s, 2, 1, 16] y, float[2, 1, 16] h, float[2, 1, 16] c) "
       "{ y, h, c = LSTM<hidden_size = 16, direction = \"bidirectional\">(x, w, r) }",
       {{20}, {1}, {7}, {16}, {17}, {2}}},
      {"steps_of_any_batch",
       {{"s", 1, 20}, {"b", 1, 4}},
       "g (float[s, b, 3] x, float[1, 48, 3] w, float[1, 48, 16] r) => "
       "(float[s, 1, b, 16] y, float[1, b, 16] h) "
       "{ y, h = GRU<hidden_size = 16, direction = \"reverse\">(x, w, r) }",
       {{20, 4}, {1, 1}, {7, 2}, {16, 3}, {17, 4}, {2, 1}}},
  };
}

inline ImportOptions OpenOptionsOf(const ScheduledModel& network) {
  ImportOptions options;
  options.symbols = network.symbols;
  return options;
}

inline Graph FixedModel(const ScheduledModel& network, const std::vector<int64_t>& lengths) {
  ImportOptions options;
  for (size_t s = 0; s < lengths.size(); ++s) {
    options.dimensions[network.symbols[s].name] = lengths[s];
  }
  return ImportText(network.text, 14, options);
}

/// A network with the default schedules of its tasks.
struct Scheduled {
  explicit Scheduled(const ScheduledModel& network,
                     const target::Target& target = codegen::HostTarget()) {
    Graph graph = ImportText(network.text, 14, OpenOptionsOf(network));
    Optimize(graph);
    tasks = ExtractTasks(std::move(graph));
    if (target.kind() == target::TargetKind::kNvidiaGpu) tasks = ForGpu(std::move(tasks));
    for (const GraphTask& task : tasks.tasks) {
      programs.push_back(sketch::DefaultSchedule(task.workload, target));
    }
    for (const tensor::Program& program : programs) pointers.push_back(&program);
  }
  TaskGraph tasks;
  std::vector<tensor::Program> programs;
  std::vector<const tensor::Program*> pointers;
};

inline void ExpectSameOutputs(const std::vector<tensor::HostTensor>& actual,
                              const std::vector<tensor::HostTensor>& expected) {
  for (size_t k = 0; k < expected.size(); ++k) {
    for (int64_t i = 0; i < expected[k].ElementCount(); ++i) {
      const double e = expected[k].Get(i);
      ASSERT_NEAR(actual[k].Get(i), e, 1e-4 * (1 + std::abs(e))) << k << ", " << i;
    }
  }
}

/// Runs for lengths, and compares the outputs with what the graph of these lengths gives.
inline void ExpectRightAt(Executor& executor, const ScheduledModel& network,
                          const std::vector<int64_t>& lengths, uint64_t seed) {
  SCOPED_TRACE(::testing::PrintToString(lengths));
  const Graph fixed = FixedModel(network, lengths);
  const std::vector<tensor::HostTensor> inputs = MakeRandomInputs(fixed, seed);
  const std::vector<tensor::HostTensor> expected = EvaluateGraph(fixed, inputs);
  std::vector<tensor::HostTensor> actual = expected;
  std::vector<const void*> from;
  std::vector<void*> to;
  for (const tensor::HostTensor& input : inputs) from.push_back(input.data.data());
  for (tensor::HostTensor& output : actual) {
    std::ranges::fill(output.data, std::byte{0xff});
    to.push_back(output.data.data());
  }
  executor.SetLengths(lengths);
  executor.Run(from, to);
  ExpectSameOutputs(actual, expected);
}

}  // namespace bayloom::graph
