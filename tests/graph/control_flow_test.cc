// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/passes/passes.h"
#include "tests/graph/host_tensors.h"
#include "tests/graph/pass_checks.h"
#include "tests/graph/text_models.h"

namespace bayloom::graph {
namespace {

tensor::HostTensor Bool(bool value) {
  return TensorOf(tensor::DType::kBool, {}, {value ? 1.0 : 0});
}

/// The first output, interpreted as it is imported, and compiled; both have to agree.
std::vector<double> OutputOf(const Graph& graph, const std::vector<tensor::HostTensor>& inputs) {
  const std::vector<double> expected = Values(EvaluateGraph(graph, inputs)[0]);
  Graph optimized = graph;
  Optimize(optimized);
  EXPECT_EQ(Values(RunCompiled(ExtractTasks(std::move(optimized)), inputs)[0]), expected);
  return expected;
}

std::string RefusalOfText(const std::string& graph, int opset = 14) {
  try {
    ImportText(graph, opset);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

using Doubles = std::vector<double>;

constexpr char kTwoBranches[] = R"(g (bool c, float[2] x) => (float[2] y) {{
  y = If (c) <then_branch = a () => (float[2] p) {{ p = Add (x, x) }},
              else_branch = b () => (float{} q) {{ {} }}>
}})";

TEST(If, TakesTheBranchOfAKnownCondition) {
  const std::string text = fmt::format(kTwoBranches, "[2]", "q = Neg (x)");
  for (const bool condition : {false, true}) {
    ImportOptions options;
    options.frozen_inputs["c"] = std::make_shared<const tensor::HostTensor>(Bool(condition));
    const Graph graph = ImportText(text, 14, options);
    EXPECT_EQ(graph.nodes.size(), 1u);
    EXPECT_EQ(OutputOf(graph, {FloatVector({1, -3})}),
              condition ? (Doubles{2, -6}) : (Doubles{-1, 3}));
  }
}

TEST(If, SelectsByAConditionKnownAtRunTime) {
  const Graph graph = ImportText(fmt::format(kTwoBranches, "[2]", "q = Neg (x)"));
  EXPECT_EQ(OutputOf(graph, {Bool(true), FloatVector({1, -3})}), (Doubles{2, -6}));
  EXPECT_EQ(OutputOf(graph, {Bool(false), FloatVector({1, -3})}), (Doubles{-1, 3}));
}

TEST(If, RefusesBranchesOfDifferentShapes) {
  try {
    ImportText(fmt::format(kTwoBranches, "[4]", "q = Concat <axis = 0> (x, x)"));
    FAIL();
  } catch (const RunTimeDependence& error) {
    EXPECT_EQ(error.inputs(), std::vector<std::string>{"c"});
    EXPECT_NE(std::string(error.what()).find("output 0 is float32[2] or float32[4]"),
              std::string::npos);
  }
}

/// x doubles and one is added, as often as `m` says; every x is recorded.
constexpr char kLoop[] = R"(g (float[2] x) => (float[2] last, float[n, 2] all) {{
  m = Constant <value = int64 {{{}}}> ()
  one = Constant <value = float {{1.0}}> ()
  last, all = Loop (m, , x) <body = b (int64 i, bool c, float[2] v)
      => (bool d, float[2] w, float[2] s) {{
    d = Identity (c)
    s = Identity (v)
    f = Cast <to = 1> (i)
    t = Add (v, v)
    u = Add (t, f)
    w = Add (u, one)
  }}>
}})";

TEST(Loop, RunsAsOftenAsItsTripCountSays) {
  const Graph graph = ImportText(fmt::format(kLoop, 3));
  EXPECT_EQ(OutputOf(graph, {FloatVector({1, 0})}), (Doubles{19, 11}));
  EXPECT_EQ(Values(EvaluateGraph(graph, {FloatVector({1, 0})})[1]), (Doubles{1, 0, 3, 1, 8, 4}));
}

TEST(Loop, WithoutAConditionTheBodysIsIgnored) {
  const char* const text = R"(g (float[2] x) => (float[2] y) {{
    m = Constant <value = int64 {{3}}> ()
    t = Constant <value = bool {{1}}> ()
    y = Loop (m, {}, x) <body = b (int64 i, bool c, float[2] v) => (bool d, float[2] w) {{
      d = Constant <value = bool {{0}}> ()
      w = Add (v, v)
    }}>
  }})";
  EXPECT_EQ(OutputOf(ImportText(fmt::format(fmt::runtime(text), "")), {FloatVector({1, -1})}),
            (Doubles{8, -8}));
  EXPECT_EQ(OutputOf(ImportText(fmt::format(fmt::runtime(text), "t")), {FloatVector({1, -1})}),
            (Doubles{2, -2}));
}

TEST(Loop, WithoutIterationsScansNothing) {
  const Graph graph = ImportText(fmt::format(kLoop, 0));
  EXPECT_EQ(graph.values[graph.outputs[1].value].shape, (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(graph.outputs[0].value, graph.inputs[0]);
}

/// While the sum of x is below the bound, at most 6 times, x doubles.
constexpr char kWhile[] = R"(g (float[2] x, float bound) => (float[2] y) {
  m = Constant <value = int64 {6}> ()
  start = ReduceSum <keepdims = 0> (x)
  first = Less (start, bound)
  y = Loop (m, first, x) <body = b (int64 i, bool c, float[2] v) => (bool d, float[2] w) {
    w = Add (v, v)
    sum = ReduceSum <keepdims = 0> (w)
    d = Less (sum, bound)
  }>
})";

TEST(Loop, KeepsItsValuesOnceAConditionOfTheRunFails) {
  const Graph graph = ImportText(kWhile);
  const auto scalar = [](double v) { return Floats({}, {v}); };
  EXPECT_EQ(OutputOf(graph, {FloatVector({1, 2}), scalar(10)}), (Doubles{4, 8}));
  EXPECT_EQ(OutputOf(graph, {FloatVector({1, 2}), scalar(0)}), (Doubles{1, 2}));
  EXPECT_EQ(OutputOf(graph, {FloatVector({1, 2}), scalar(1e9)}), (Doubles{64, 128}));
}

TEST(Loop, StopsWhenAKnownConditionFails) {
  const Graph graph = ImportText(R"(g (float[1] x) => (float[1] y) {
    start = Constant <value = bool {1}> ()
    limit = Constant <value = int64 {4}> ()
    m = Constant <value = int64 {9223372036854775807}> ()
    y = Loop (m, start, x) <body = b (int64 i, bool c, float[1] v) => (bool d, float[1] w) {
      w = Add (v, v)
      d = Less (i, limit)
    }>
  })");
  EXPECT_EQ(OutputOf(graph, {FloatVector({1})}), Doubles{32});
}

TEST(Loop, RefusesWhatCannotBeUnrolled) {
  EXPECT_NE(RefusalOfText(R"(g (float[1] x) => (float[1] y) {
    m = Constant <value = int64 {9223372036854775807}> ()
    y = Loop (m, , x) <body = b (int64 i, bool c, float[1] v) => (bool c, float[1] v) { }>
  })")
                .find("more iterations than can be unrolled"),
            std::string::npos);
  EXPECT_NE(RefusalOfText(R"(g (int64 m, float[1] x) => (float[1] y) {
    y = Loop (m, , x) <body = b (int64 i, bool c, float[1] v) => (bool c, float[1] v) { }>
  })")
                .find("a count that 'y' depends on is found when the network runs, and no shape "
                      "bounds it: give a bound for 'y'"),
            std::string::npos);
}

/// Sums of x along an axis up to every place, from the front or from the back.
constexpr char kScan[] = R"(g (float[2] s, float[{}] x) => (float[2] last, float[a, b] all) {{
  last, all = Scan <num_scan_inputs = 1, scan_input_axes = [{}], scan_input_directions = [{}],
                    scan_output_axes = [{}], scan_output_directions = [{}],
                    body = b (float[2] v, float[2] e) => (float[2] w, float[2] o) {{
    w = Add (v, e)
    o = Identity (w)
  }}> (s, x)
}})";

TEST(Scan, GoesAlongItsAxesInItsDirections) {
  const tensor::HostTensor start = FloatVector({1, 0});
  const auto all = [&](const Graph& graph, const tensor::HostTensor& x) {
    return Values(EvaluateGraph(graph, {start, x})[1]);
  };
  const auto rows = Floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const Graph forward = ImportText(fmt::format(kScan, "3, 2", 0, 0, 0, 0));
  EXPECT_EQ(OutputOf(forward, {start, rows}), (Doubles{10, 12}));
  EXPECT_EQ(all(forward, rows), (Doubles{2, 2, 5, 6, 10, 12}));
  const Graph backward = ImportText(fmt::format(kScan, "3, 2", 0, 1, 0, 1));
  EXPECT_EQ(all(backward, rows), (Doubles{10, 12, 9, 10, 6, 6}));
  const auto columns = Floats({2, 3}, {1, 3, 5, 2, 4, 6});
  const Graph across = ImportText(fmt::format(kScan, "2, 3", 1, 0, -1, 0));
  EXPECT_EQ(all(across, columns), (Doubles{2, 5, 10, 2, 6, 12}));
}

/// Every iteration reads its part of the input where it lies: iterations are calls of one task.
TEST(Scan, IterationsShareTheirTasks) {
  const Graph graph = ImportText(
      R"(g (float[1, 16] s, float[100, 1, 16] x, float[16, 16] r) => (float[1, 16] last) {
    last = Scan <num_scan_inputs = 1, body = b (float[1, 16] v, float[1, 16] e)
        => (float[1, 16] w) {
      tenth = Constant <value = float {0.1}> ()
      p = MatMul (v, r)
      o = Mul (p, tenth)
      q = Add (o, e)
      w = Tanh (q)
    }> (s, x)
  })");
  Graph optimized = graph;
  Optimize(optimized);
  const TaskGraph network = ExtractTasks(std::move(optimized));
  EXPECT_EQ(network.tasks.size(), 1u);
  EXPECT_EQ(network.calls.size(), 100u);
  const std::vector<tensor::HostTensor> inputs = RandomInputs(graph);
  const Doubles expected = Values(EvaluateGraph(graph, inputs)[0]);
  const Doubles actual = Values(RunCompiled(network, inputs)[0]);
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-5);
}

/// The same for what a loop's body takes from outside by the number of the iteration.
TEST(Loop, IterationsShareTheirTasks) {
  const Graph graph = ImportText(R"(g (float[1, 16] s, float[64, 1, 16] x, float[16, 16] r)
      => (float[1, 16] last) {
    m = Constant <value = int64 {64}> ()
    last = Loop (m, , s) <body = b (int64 i, bool c, float[1, 16] v)
        => (bool d, float[1, 16] w) {
      d = Identity (c)
      e = Gather <axis = 0> (x, i)
      tenth = Constant <value = float {0.1}> ()
      p = MatMul (v, r)
      o = Mul (p, tenth)
      q = Add (o, e)
      w = Tanh (q)
    }>
  })");
  Graph optimized = graph;
  Optimize(optimized);
  const TaskGraph network = ExtractTasks(std::move(optimized));
  EXPECT_EQ(network.tasks.size(), 1u);
  const std::vector<tensor::HostTensor> inputs = RandomInputs(graph);
  const Doubles expected = Values(EvaluateGraph(graph, inputs)[0]);
  const Doubles actual = Values(RunCompiled(network, inputs)[0]);
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-5);
}

}  // namespace
}  // namespace bayloom::graph
