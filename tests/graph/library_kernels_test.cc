// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <numeric>

#include "bayloom/codegen/host.h"
#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/import.h"
#include "bayloom/graph/import/conformance.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/tasks.h"
#include "bayloom/sketch/default_schedule.h"
#include "bayloom/sketch/design_space.h"
#include "tests/graph/pass_checks.h"
#include "tests/graph/small_models.h"

namespace bayloom::graph {
namespace {

using tensor::DType;
using tensor::LibraryKernel;

tensor::HostTensor Indices(const std::vector<int64_t>& values, std::vector<int64_t> shape) {
  tensor::HostTensor tensor = tensor::HostTensor::Zeros(DType::kInt64, std::move(shape));
  for (size_t i = 0; i < values.size(); ++i) tensor.SetInt(static_cast<int64_t>(i), values[i]);
  return tensor;
}

/// Optimized and divided into tasks, the graph computes the same; the tasks' names.
std::vector<std::string> CheckTasks(const Graph& graph) {
  const TaskGraph tasks = ExtractTasks(CheckedPass([](Graph& g) { Optimize(g); }, graph));
  const std::vector<tensor::HostTensor> inputs = RandomInputs(graph);
  const auto expected = EvaluateGraph(graph, inputs), actual = InterpretTasks(tasks, inputs);
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(Difference(actual[i], expected[i], 1e-4, 1e-5), "") << "output " << i;
  }
  std::vector<std::string> names;
  for (const GraphTask& task : tasks.tasks) names.push_back(task.workload.name);
  return names;
}

tensor::Tensor Sums(GraphBuilder& b, const tensor::Tensor& x, int64_t outer, int64_t n,
                    int64_t inner) {
  return b.Call("cumsum", x.shape(), x.dtype(), LibraryKernel::kScan, {x},
                {outer, n, inner, 0, 0, 0});
}

/// The channels-last image that convolutions want is put back into the model's order for a kernel.
TEST(LibraryKernels, SeeTheModelsOrderBehindAConvolution) {
  GraphBuilder b("net");
  const tensor::Tensor x = b.Input("x", DType::kFloat32, {1, 3, 6, 7});
  const tensor::Tensor image =
      ConvolveChannelsFirst(b, x, b.Constant("w", RandomTensor({5, 3, 3, 3}, 1)));
  const tensor::Tensor sums = Sums(b, Relu(b, image), 1, 5, 20);
  const tensor::Tensor again =
      ConvolveChannelsFirst(b, sums, b.Constant("v", RandomTensor({4, 5, 2, 2}, 2)));
  CheckTasks(b.Build({{"y", again.id()}}));
}

/// What only moves elements is not folded into a kernel, which reads its operands as they are.
TEST(LibraryKernels, ReadMovedElementsWhereTheyWereMovedTo) {
  GraphBuilder b("net");
  const tensor::Tensor x = b.Input("x", DType::kFloat32, {6, 8});
  const tensor::Tensor moved =
      b.Map("transpose", {8, 6}, [&](const auto& i) { return x(i[1], i[0]); });
  const tensor::Tensor part =
      b.Map("slice", {4, 6}, [&](const auto& i) { return moved(i[0] * 2 + 1, i[1]); });
  const tensor::Tensor sums = Sums(b, b.View(part, {24}), 4, 6, 1);
  const tensor::Tensor doubled =
      b.Map("add", {4, 6},
            [&, view = b.View(sums, {4, 6})](const auto& i) { return view.At(i) + part.At(i); });
  const std::vector<std::string> names = CheckTasks(b.Build({{"y", doubled.id()}}));
  EXPECT_EQ(names.size(), 3u);
}

/// Neither a kernel's result nor its operands are slices of a concatenation.
TEST(LibraryKernels, StayDenseBesideConcatenations) {
  GraphBuilder b("net");
  const tensor::Tensor x = b.Input("x", DType::kFloat32, {4, 16});
  const tensor::Tensor positive = Relu(b, x);
  const tensor::Tensor sums = Sums(b, positive, 4, 16, 1);
  const tensor::Tensor joined = b.Map("concat", {4, 48}, [&](const auto& i) {
    return tensor::Select(
        i[1] < tensor::Expr(16), positive(i[0], i[1]),
        tensor::Select(i[1] < tensor::Expr(32), sums(i[0], i[1] - 16), x(i[0], i[1] - 32)));
  });
  const tensor::Tensor w = b.Constant("w", RandomTensor({48, 5}, 3));
  CheckTasks(b.Build({{"y", Multiply(b, joined, w).id()}}));
}

TEST(LibraryKernels, ConstantsAreFolded) {
  GraphBuilder b("net");
  const tensor::Tensor x = b.Constant("x", RandomTensor({3, 7}, 4));
  const tensor::Tensor order =
      b.Call("topk.index", {3, 7}, DType::kInt64, LibraryKernel::kTopK, {x}, {3, 7, 1, 7, 1});
  ASSERT_NE(b.ConstantOf(order), nullptr);
  for (int64_t row = 0; row < 3; ++row) {
    for (int64_t i = 1; i < 7; ++i) {
      const tensor::HostTensor& o = *b.ConstantOf(order);
      EXPECT_GE(b.ConstantOf(x)->Get(row * 7 + o.GetInt(row * 7 + i - 1)),
                b.ConstantOf(x)->Get(row * 7 + o.GetInt(row * 7 + i)));
    }
  }
}

/// One design space with one candidate, which is the default program.
TEST(LibraryKernels, LeaveNothingToDecide) {
  GraphBuilder b("net");
  const tensor::Tensor x = b.Input("x", DType::kFloat32, {3, 70});
  const TaskGraph tasks = ExtractTasks(b.Build({{"y", Sums(b, x, 3, 70, 1).id()}}));
  ASSERT_EQ(tasks.tasks.size(), 1u);
  const target::Target target = codegen::HostTarget(2);
  const sketch::SpaceGenerator generator(tasks.tasks[0].workload, target);
  ASSERT_EQ(generator.spaces().size(), 1u);
  const Result<sketch::Candidate> candidate = generator.Sample(0, base::RandomStream(1));
  ASSERT_TRUE(candidate) << candidate.error().message;
  EXPECT_EQ(candidate->hash,
            sketch::DefaultSchedule(tasks.tasks[0].workload, target).StructuralHash());
}

TEST(LibraryKernels, ScatterWithoutUpdatesIsItsData) {
  models::GraphBuilder g("scatter", 13, 1);
  const models::Value x = g.Input("x", {4, 3});
  const models::Value none = g.Constant("i", {0, 1}, std::vector<int64_t>{});
  const models::Value updates = g.Constant("u", {0, 3}, std::vector<float>{});
  g.Output(g.Node("ScatterND", {x, none, updates}), {4, 3});
  const SmallModel model("scatter", std::move(g));
  const Graph graph = ImportOnnx(model.path());
  const tensor::HostTensor data = RandomTensor({4, 3}, 5);
  EXPECT_EQ(Difference(EvaluateGraph(graph, {data})[0], data, 0, 0), "");
}

/// Sorting along any axis, from the model on: values fall, and belong to the indices.
TEST(LibraryKernels, SortAlongAnyAxis) {
  for (int64_t axis = -3; axis < 3; ++axis) {
    const std::vector<int64_t> shape = {3, 5, 4};
    const int64_t n = shape[(axis + 3) % 3];
    models::GraphBuilder g("sort", 13, 1);
    const models::Value x = g.Input("x", shape);
    const models::Value k = g.Constant("k", {1}, std::vector<int64_t>{n});
    const std::vector<models::Value> sorted = g.Node("TopK", {x, k}, {{"axis", axis}}, 2);
    g.Output(sorted[0], shape);
    const SmallModel model("sort", std::move(g));
    const Graph graph = ImportOnnx(model.path());
    const tensor::HostTensor data = RandomTensor(shape, 6);
    const tensor::HostTensor result = EvaluateGraph(graph, {data})[0];
    const int64_t step = axis % 3 == 0 ? 20 : (axis + 3) % 3 == 1 ? 4 : 1;
    double sum = 0;
    for (int64_t i = 0; i < 60; ++i) {
      sum += result.Get(i) - data.Get(i);
      const bool first = i / step % n == 0;
      EXPECT_LE(result.Get(i), first ? result.Get(i) : result.Get(i - step));
    }
    EXPECT_NEAR(sum, 0, 1e-4);
  }
}

/// A costly function of elements is computed once, not at every element of a concatenation.
TEST(LibraryKernels, CostlyPartsOfConcatenationsStayTasks) {
  GraphBuilder b("net");
  const tensor::Tensor x = b.Input("x", DType::kFloat32, {1, 8, 6});
  const tensor::Tensor z = b.Input("z", DType::kFloat32, {1, 8, 12});
  const tensor::Tensor low = b.Constant("low", Indices({0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5}, {12}));
  const tensor::Tensor weight = b.Constant("weight", RandomTensor({12}, 8));
  const tensor::Tensor resized = b.Map("resize", {1, 8, 12}, [&](const auto& i) {
    const tensor::Expr a = x(i[0], i[1], low(i[2]));
    const tensor::Expr c = x(i[0], i[1], tensor::Min(low(i[2]) + 1, tensor::Expr(5)));
    return a * weight(i[2]) + c * (tensor::FloatLiteral(1) - weight(i[2]));
  });
  const tensor::Tensor joined = b.Map("concat", {1, 16, 12}, [&](const auto& i) {
    return tensor::Select(i[1] < tensor::Expr(8), resized(i[0], i[1], i[2]),
                          z(i[0], i[1] - 8, i[2]));
  });
  const std::vector<std::string> names = CheckTasks(b.Build({{"y", joined.id()}}));
  for (const std::string& name : names) EXPECT_EQ(name.find("resize+concat"), std::string::npos);
}

/// Rows of a concatenation that are chosen at run time: many of them are read from memory, few are
/// taken from the parts.
TEST(LibraryKernels, ConcatenationsReadAtComputedPlacesStayTasks) {
  const auto names = [](int64_t rows) {
    GraphBuilder b("net");
    const tensor::Tensor x = b.Input("x", DType::kFloat32, {4, 6});
    const tensor::Tensor z = b.Input("z", DType::kFloat32, {4, 6});
    const tensor::Tensor at = b.Input("at", DType::kInt64, {rows});
    const tensor::Tensor joined = b.Map("concat", {8, 6}, [&](const auto& i) {
      return tensor::Select(i[0] < tensor::Expr(4), x(i[0], i[1]), z(i[0] - 4, i[1]));
    });
    const tensor::Tensor rows_read = b.Map("gather", {rows, 6}, [&](const auto& i) {
      const tensor::Expr row = tensor::Max(tensor::Min(at(i[0]), tensor::Expr(7)), tensor::Expr(0));
      return joined(row, i[1]);
    });
    return CheckTasks(b.Build({{"y", rows_read.id()}}));
  };
  EXPECT_EQ(names(2).size(), 1u);
  EXPECT_EQ(names(8).size(), 2u);
}

}  // namespace
}  // namespace bayloom::graph
