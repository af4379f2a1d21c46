// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Activations that are quantized where a product reads them, as dynamic quantization asks for.
#include <gtest/gtest.h>

#include <algorithm>

#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"
#include "bayloom/graph/tasks.h"
#include "tests/graph/one_operator.h"
#include "tests/graph/pass_checks.h"

namespace bayloom::graph {
namespace {

using tensor::DType;

/// `products` products of dynamically quantized x [rows, depth] and weights [depth, columns].
Graph DynamicProducts(int64_t rows, int64_t depth, int64_t columns, int products) {
  ModelWriter writer;
  const std::string x = writer.Input(DType::kFloat32, {rows, depth});
  const auto levels = writer.Node("DynamicQuantizeLinear", {x}, {}, "", 3);
  for (int p = 0; p < products; ++p) {
    const auto seed = static_cast<uint64_t>(p);
    const std::string weights =
        writer.Constant(RandomIntegers(DType::kInt8, {depth, columns}, -128, 128, seed));
    const std::string sums = writer.Node("MatMulInteger", {levels[0], weights, levels[2]});
    const std::string wide = writer.Node("Cast", {sums}, {{"to", int64_t{1}}});
    writer.Output(writer.Node("Mul", {wide, levels[1]}));
  }
  return writer.Import();
}

bool Quantizes(const Graph& graph, const Node& node) {
  return node.kind == NodeKind::kMap && graph.values[node.output()].dtype == DType::kUInt8 &&
         graph.values[node.output()].ElementCount() > 1;
}

/// Calls that compute a product, and those of them that quantize, too.
std::pair<int, int> ProductCalls(const TaskGraph& tasks) {
  int products = 0, both = 0;
  for (const TaskCall& call : tasks.calls) {
    const auto any = [&](const auto& is) {
      return std::ranges::any_of(call.nodes, [&](int n) { return is(tasks.graph.nodes[n]); });
    };
    const bool product = any([](const Node& node) { return IsAnchor(node); });
    products += product ? 1 : 0;
    both += product && any([&](const Node& node) { return Quantizes(tasks.graph, node); }) ? 1 : 0;
  }
  return {products, both};
}

void ExpectSameOutputs(const Graph& model, const TaskGraph& tasks) {
  const auto inputs = RandomInputs(model);
  const auto expected = InterpretTasks(ExtractTasks(model), inputs);
  for (const auto& outputs : {InterpretTasks(tasks, inputs), RunCompiled(tasks, inputs)}) {
    for (size_t o = 0; o < expected.size(); ++o) {
      for (int64_t i = 0; i < expected[o].ElementCount(); ++i) {
        ASSERT_FLOAT_EQ(static_cast<float>(outputs[o].Get(i)),
                        static_cast<float>(expected[o].Get(i)));
      }
    }
  }
}

TEST(LateQuantization, IsPartOfItsOnlyProduct) {
  for (const auto& [rows, depth, columns] :
       {std::tuple{128, 768, 24}, std::tuple{17, 68, 33}, std::tuple{5, 601, 7}}) {
    const Graph model = DynamicProducts(rows, depth, columns, 1);
    Graph graph = model;
    Optimize(graph);
    const TaskGraph tasks = ExtractTasks(graph);
    EXPECT_EQ(ProductCalls(tasks), (std::pair{1, 1})) << Print(tasks);
    ExpectSameOutputs(model, tasks);
  }
}

TEST(LateQuantization, IsDoneOnceForSeveralProducts) {
  const Graph model = DynamicProducts(19, 604, 16, 3);
  Graph graph = model;
  Optimize(graph);
  const TaskGraph tasks = ExtractTasks(graph);
  EXPECT_EQ(ProductCalls(tasks), (std::pair{3, 0})) << Print(tasks);
  ExpectSameOutputs(model, tasks);
}

/// What a product hands to the next one is quantized where it is computed.
TEST(LateQuantization, OfAnotherProductsResultIsThatProducts) {
  GraphBuilder b("chain");
  const tensor::Tensor x = b.Input("x", DType::kFloat32, {20, 24});
  const tensor::Tensor first = Multiply(b, x, b.Constant("v", RandomTensor({24, 32}, 1)));
  const tensor::Tensor levels = b.Map("levels", {20, 32}, [&](const auto& s) {
    const tensor::Expr level = tensor::Unary(tensor::ExprOp::kRound, first.At(s));
    return tensor::Cast(DType::kInt8, tensor::Min(tensor::Max(level, tensor::FloatLiteral(-128)),
                                                  tensor::FloatLiteral(127)));
  });
  const tensor::Tensor w = b.Constant("w", RandomIntegers(DType::kInt8, {32, 8}, -9, 9, 2));
  const tensor::Tensor second = b.Reduce(
      "matmul", {20, 8}, {{"k", 32}}, tensor::Reduction::kSum,
      [&](const auto& s, const auto& r) {
        return tensor::Cast(DType::kInt32, levels(s[0], r[0])) *
               tensor::Cast(DType::kInt32, w(r[0], s[1]));
      },
      NodeKind::kMatmul);
  const TaskGraph tasks = ExtractTasks(b.Build({{"y", second.id()}}));
  ASSERT_EQ(tasks.calls.size(), 2U) << Print(tasks);
  EXPECT_EQ(tasks.calls[0].nodes.size(), 2U);
}

}  // namespace
}  // namespace bayloom::graph
