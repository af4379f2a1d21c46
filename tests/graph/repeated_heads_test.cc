// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Attention whose heads of keys and values are shared by several heads of queries, as exporters
/// spell it out.
#include <gtest/gtest.h>

#include <cmath>

#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/import.h"
#include "bayloom/graph/passes/passes.h"
#include "tests/graph/one_operator.h"
#include "tests/graph/pass_checks.h"

namespace bayloom::graph {
namespace {

using tensor::DType;
using tensor::HostTensor;

constexpr int64_t kHeads = 2, kShared = 3, kKeys = 20, kSize = 8;

/// Unsqueeze, Expand, Reshape of [1, kHeads, kKeys, kSize].
std::string Repeat(ModelWriter& model, const std::string& x) {
  const auto ints = [&](std::vector<int64_t> values) {
    const auto count = static_cast<int64_t>(values.size());
    return model.Constant(Integers(DType::kInt64, {count}, std::move(values)));
  };
  const std::string wide = model.Node("Unsqueeze", {x, ints({2})});
  const std::string expanded =
      model.Node("Expand", {wide, ints({1, kHeads, kShared, kKeys, kSize})});
  return model.Node("Reshape", {expanded, ints({1, kHeads * kShared, kKeys, kSize})});
}

Graph Attention(int64_t queries) {
  ModelWriter model(21);
  const std::string q = model.Input(DType::kFloat32, {1, kHeads * kShared, queries, kSize});
  const std::string k = model.Input(DType::kFloat32, {1, kHeads, kKeys, kSize});
  const std::string v = model.Input(DType::kFloat32, {1, kHeads, kKeys, kSize});
  const std::string mask = model.Input(DType::kFloat32, {1, 1, queries, kKeys});
  const std::string turned =
      model.Node("Transpose", {Repeat(model, k)}, {{"perm", std::vector<int64_t>{0, 1, 3, 2}}});
  const std::string scores = model.Node("MatMul", {q, turned});
  const std::string masked = model.Node("Add", {scores, mask});
  const std::string weights = model.Node("Softmax", {masked}, {{"axis", int64_t{-1}}});
  model.Output(model.Node("MatMul", {weights, Repeat(model, v)}));
  return model.Import();
}

TEST(RepeatedHeads, AreReadWhereTheyAre) {
  for (int64_t queries : {1, 24}) {
    Graph graph = Attention(queries);
    const std::vector<HostTensor> inputs = {RandomTensor({1, kHeads * kShared, queries, kSize}, 1),
                                            RandomTensor({1, kHeads, kKeys, kSize}, 2),
                                            RandomTensor({1, kHeads, kKeys, kSize}, 3),
                                            RandomTensor({1, 1, queries, kKeys}, 4)};
    const HostTensor y = EvaluateGraph(graph, inputs)[0];
    const auto at = [&](int64_t head, int64_t query, int64_t key) {
      double score = inputs[3].Get(query * kKeys + key);
      for (int64_t d = 0; d < kSize; ++d) {
        score += inputs[0].Get((head * queries + query) * kSize + d) *
                 inputs[1].Get((head / kShared * kKeys + key) * kSize + d);
      }
      return std::exp(score);
    };
    for (int64_t head = 0; head < kHeads * kShared; ++head) {
      double sum = 0, expected = 0;
      for (int64_t key = 0; key < kKeys; ++key) {
        sum += at(head, queries - 1, key);
        expected +=
            at(head, queries - 1, key) * inputs[2].Get((head / kShared * kKeys + key) * kSize);
      }
      EXPECT_NEAR(y.Get((head * queries + queries - 1) * kSize), expected / sum, 1e-5);
    }
    Optimize(graph);
    for (const Value& value : graph.values) {
      const bool is_repeated =
          value.shape == std::vector<int64_t>{1, kHeads, kShared, kKeys, kSize};
      EXPECT_FALSE(is_repeated) << Print(graph);
    }
    const HostTensor compiled = RunCompiled(ExtractTasks(graph), inputs)[0];
    for (int64_t i = 0; i < y.ElementCount(); ++i) ASSERT_NEAR(compiled.Get(i), y.Get(i), 1e-5);
  }
}

/// One query reads keys as they lie, and what is behind the product is computed with it.
TEST(RepeatedHeads, OfOneQueryTakeThreeTasks) {
  Graph graph = Attention(1);
  Optimize(graph);
  EXPECT_EQ(ExtractTasks(graph).calls.size(), 3u) << Print(graph);
}

}  // namespace
}  // namespace bayloom::graph
