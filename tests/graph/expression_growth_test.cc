// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <ostream>

#include "bayloom/codegen/host.h"
#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/executor.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/sketch/default_schedule.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/sketch/rules/rules.h"
#include "bayloom/tensor/evaluation_cost.h"
#include "tests/graph/pass_checks.h"

namespace bayloom::graph {
namespace {

using tensor::Expr;
using tensor::Tensor;

constexpr int64_t kMapRows = 3, kMapColumns = 40;

Tensor Map(GraphBuilder& b, const char* op, const GraphBuilder::ElementFunction& value) {
  return b.Map(op, {kMapRows, kMapColumns}, value);
}

Expr Exp(const Expr& x) { return tensor::Unary(tensor::ExprOp::kExp, x); }

/// x * sigmoid(x)
Tensor Silu(GraphBuilder& b, const Tensor& x) {
  const Tensor gate = Map(b, "sigmoid", [&](const auto& i) {
    return tensor::FloatLiteral(1) / (tensor::FloatLiteral(1) + Exp(-x.At(i)));
  });
  return Map(b, "mul", [&](const auto& i) { return x.At(i) * gate.At(i); });
}

Tensor Mean(GraphBuilder& b, const Tensor& x) {
  return Map(b, "mean",
             [&](const auto& i) { return (x.At(i) + x.At(i)) * tensor::FloatLiteral(0.5); });
}

/// Reads at several places, as an interpolation does.
Tensor Blend(GraphBuilder& b, const Tensor& x) {
  return Map(b, "blend", [&](const auto& i) {
    const Expr last = Expr(kMapColumns - 1);
    const Expr next = tensor::Min(i[1] + Expr(1), last), mirrored = last - i[1];
    return (x(i[0], i[1]) + x(i[0], next) + x(i[0], mirrored)) * tensor::FloatLiteral(0.33);
  });
}

/// One load whose index mentions the iterator several times: it is the index that grows.
Tensor Reflect(GraphBuilder& b, const Tensor& x) {
  return Map(b, "reflect", [&](const auto& i) {
    const Expr left = tensor::Max(i[1] - Expr(1), Expr(1) - i[1]);
    const Expr right = Expr(2 * kMapColumns - 2) - i[1];
    return x(i[0], tensor::Min(left, right));
  });
}

/// Read once, at one place: such a chain only grows as it gets longer.
Tensor Gompertz(GraphBuilder& b, const Tensor& x) {
  return Map(b, "gompertz", [&](const auto& i) { return Exp(-Exp(x.At(i))); });
}

Tensor Softmax(GraphBuilder& b, const Tensor& x) {
  const Tensor sum = b.Reduce("sum", {kMapRows}, {{"k", kMapColumns}}, tensor::Reduction::kSum,
                              [&](const auto& i, const auto& k) { return Exp(x(i[0], k[0])); });
  return Map(b, "div", [&](const auto& i) { return Exp(x.At(i)) / sum(i[0]); });
}

struct Chain {
  const char* name;
  bool behind_product;
  Tensor (*step)(GraphBuilder&, const Tensor&);
};
void PrintTo(const Chain& chain, std::ostream* out) { *out << chain.name; }

class ExpressionGrowthTest : public ::testing::TestWithParam<Chain> {
 protected:
  static Graph Make(int steps) {
    GraphBuilder b("chain");
    Tensor x = b.Input("x", tensor::DType::kFloat32, {kMapRows, kMapColumns});
    if (GetParam().behind_product) {
      x = Multiply(b, x, b.Constant("w", RandomTensor({kMapColumns, kMapColumns}, 4)));
    }
    for (int i = 0; i < steps; ++i) x = GetParam().step(b, x);
    return b.Build({{"y", x.id()}});
  }

  static void ExpectSmall(const tensor::Program& program) {
    for (tensor::BlockId block : program.BlocksInOrder()) {
      ASSERT_LE(tensor::EvaluationCost(program.blocks[block].value), tensor::kMaxInlinedCost);
    }
  }
};

TEST_P(ExpressionGrowthTest, ALongChainIsAsLargeAsItIsLong) {
  const target::Target target = codegen::HostTarget(2);
  for (int steps : {8, 12, 16, 40}) {
    const Graph graph = Make(steps);
    Graph optimized = graph;
    Optimize(optimized);
    for (const Node& node : optimized.nodes) {
      ASSERT_LE(tensor::EvaluationCost(node.stage.value), tensor::kMaxInlinedCost) << steps;
    }
    const TaskGraph network = ExtractTasks(std::move(optimized));
    std::vector<tensor::Program> programs;
    for (const GraphTask& task : network.tasks) {
      programs.push_back(sketch::DefaultSchedule(task.workload, target));
      ASSERT_NO_FATAL_FAILURE(ExpectSmall(programs.back())) << steps;
      const sketch::SpaceGenerator spaces(task.workload, target);
      EXPECT_LE(spaces.spaces().size(), sketch::kMaxDesignSpaces);
      const Result<sketch::Candidate> candidate = spaces.Sample(0, base::RandomStream(1));
      if (candidate) {
        ASSERT_NO_FATAL_FAILURE(ExpectSmall(candidate->program)) << steps;
      }
    }
    std::vector<const tensor::Program*> chosen;
    for (const tensor::Program& program : programs) chosen.push_back(&program);
    const tensor::HostTensor x = RandomTensor({kMapRows, kMapColumns}, 9);
    tensor::HostTensor y =
        tensor::HostTensor::Zeros(tensor::DType::kFloat32, {kMapRows, kMapColumns});
    Executor(network, chosen, target).Run({x.data.data()}, {y.data.data()});
    const tensor::HostTensor expected = EvaluateGraph(graph, {x})[0];
    for (int64_t i = 0; i < y.ElementCount(); ++i) {
      ASSERT_NEAR(y.Get(i), expected.Get(i), 1e-3 * (1 + std::abs(expected.Get(i)))) << steps;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Chains, ExpressionGrowthTest,
                         ::testing::Values(Chain{"Silu", false, Silu},
                                           Chain{"SiluBehindAProduct", true, Silu},
                                           Chain{"Mean", false, Mean}, Chain{"Blend", false, Blend},
                                           Chain{"Reflect", false, Reflect},
                                           Chain{"Gompertz", false, Gompertz},
                                           Chain{"Softmax", false, Softmax}),
                         [](const auto& chain) { return std::string(chain.param.name); });

}  // namespace
}  // namespace bayloom::graph
