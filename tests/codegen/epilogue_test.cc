// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/compile.h"
#include "bayloom/tensor/operators.h"
#include "tests/codegen/compiled.h"
#include "tests/codegen/random_tiles.h"
#include "tests/tensor/workloads.h"

namespace bayloom::testing {
namespace {

struct EpilogueCase {
  std::string name;
  tensor::Workload workload;
};
void PrintTo(const EpilogueCase& named, std::ostream* out) { *out << named.name; }

/// What follows a product of [5, 12] and [12, 34].
template <typename Epilogue>
EpilogueCase AfterMatmul(const std::string& name, const Epilogue& epilogue) {
  tensor::WorkloadBuilder b(name);
  const tensor::Tensor product =
      tensor::Matmul(b, "c", b.Input("a", {5, 12}), b.Constant("w", {12, 34}));
  return {name, b.Build({epilogue(b, product)})};
}

std::vector<EpilogueCase> EpilogueCases() {
  std::vector<EpilogueCase> all;
  all.push_back(AfterMatmul("relu", [](tensor::WorkloadBuilder& b, const tensor::Tensor& c) {
    return tensor::Map(b, "e", c, tensor::Relu);
  }));
  all.push_back(AfterMatmul(  // reads the product twice
      "silu", [](tensor::WorkloadBuilder& b, const tensor::Tensor& c) {
        return tensor::Map(b, "e", c, tensor::Silu);
      }));
  all.push_back(AfterMatmul("add", [](tensor::WorkloadBuilder& b, const tensor::Tensor& c) {
    const tensor::Tensor x = b.Input("x", {5, 34});
    return tensor::Zip(b, "e", c, x,
                       [](const tensor::Expr& p, const tensor::Expr& q) { return p + q; });
  }));
  all.push_back(AfterMatmul("half", [](tensor::WorkloadBuilder& b, const tensor::Tensor& c) {
    return tensor::Map(
        b, "e", c, [](const tensor::Expr& e) { return tensor::Cast(tensor::DType::kFloat16, e); });
  }));
  all.push_back(AfterMatmul("transposed", [](tensor::WorkloadBuilder& b, const tensor::Tensor& c) {
    return b.Compute("e", {34, 5}, [&](const auto& at) { return c(at[1], at[0]); });
  }));
  all.push_back(AfterMatmul("broadcast", [](tensor::WorkloadBuilder& b, const tensor::Tensor& c) {
    return b.Compute("e", {3, 5, 34}, [&](const auto& at) { return c(at[1], at[2]); });
  }));
  all.push_back(AfterMatmul("shifted", [](tensor::WorkloadBuilder& b, const tensor::Tensor& c) {
    return b.Compute("e", {4, 33}, [&](const auto& at) { return c(at[0] + 1, at[1] + 1); });
  }));
  all.push_back(AfterMatmul("one_row", [](tensor::WorkloadBuilder& b, const tensor::Tensor& c) {
    return b.Compute("e", {34}, [&](const auto& at) { return c(0, at[0]); });
  }));
  tensor::Conv2dShape shape = ConvShape(7, 3, 20, 3, 1);
  shape.epilogue = {.bias = true, .residual = false, .relu = false};
  all.push_back({"conv2d", tensor::Conv2dWorkload(shape)});
  return all;
}

class EpilogueTest : public ::testing::TestWithParam<EpilogueCase> {};

TEST_P(EpilogueTest, TilesComputeWhatTheNaiveProgramComputes) {
  constexpr int kSchedules = 60;
  const tensor::Workload& workload = GetParam().workload;
  const std::vector<tensor::HostTensor> inputs = RandomArguments(workload, 5);
  std::vector<tensor::HostTensor> expected = inputs;
  const tensor::Program naive = tensor::Lower(workload);
  tensor::Interpret(naive, expected);
  const tensor::DType dtype = naive.buffers[naive.Parameters().back()].dtype;
  base::RandomStream random(23);
  for (int i = 0; i < kSchedules; ++i) {
    tensor::Program program = naive;
    const std::vector<tensor::BlockId> blocks = program.BlocksInOrder();
    const std::vector<tensor::LoopId> outer =
        TileAtRandom(program, blocks[blocks.size() - 2], random);
    const tensor::LoopId at = outer[random.UniformInt(static_cast<int64_t>(outer.size()))];
    const bool moved = tensor::ReverseComputeAt(program, blocks.back(), at).ok();
    if (moved) {
      (void)tensor::Vectorize(program,
                              program.LoopsAround(tensor::NodeRef::Block(blocks.back())).back());
      UnrollAndParallelizeAtRandom(program, random);
    }
    SCOPED_TRACE(tensor::Print(program));
    std::vector<tensor::HostTensor> actual = inputs;
    ASSERT_NO_THROW(RunCompiled(program, actual));
    ASSERT_FALSE(HasFatalFailure());
    ExpectClose(actual.back(), expected.back(), ToleranceOf(dtype),
                "schedule " + std::to_string(i));
    ASSERT_FALSE(HasFatalFailure());
  }
}

INSTANTIATE_TEST_SUITE_P(All, EpilogueTest, ::testing::ValuesIn(EpilogueCases()),
                         [](const auto& named) { return named.param.name; });

/// c[64, 64] + bias, rectified, in tiles of 8 x 32; the consumer under the tiles' outer loops.
tensor::Program TiledMatmulWithEpilogue() {
  tensor::Program program =
      tensor::Lower(tensor::MatmulWorkload(64, 64, 64, tensor::DType::kFloat32, {.bias = true}));
  const std::vector<tensor::BlockId> blocks = program.BlocksInOrder();
  const std::vector<tensor::LoopId> loops = program.LoopsAround(tensor::NodeRef::Block(blocks[0]));
  const std::vector<tensor::LoopId> i =
      *tensor::Split(program, loops[0], std::vector<int64_t>{-1, 8});
  const std::vector<tensor::LoopId> j =
      *tensor::Split(program, loops[1], std::vector<int64_t>{-1, 32});
  EXPECT_TRUE(
      tensor::Reorder(program, std::vector<tensor::LoopId>{i[0], j[0], loops[2], i[1], j[1]}).ok());
  EXPECT_TRUE(tensor::Vectorize(program, j[1]).ok());
  EXPECT_TRUE(tensor::ReverseComputeAt(program, blocks[1], j[0]).ok());
  return program;
}

TEST(EpilogueCodeTest, AResultGoesFromRegistersThroughItsConsumerToTheOutput) {
  const std::string ir =
      *codegen::EmitLlvmIr(TiledMatmulWithEpilogue(), codegen::HostTarget(), "f");
  EXPECT_EQ(ir.find("alloca"), std::string::npos) << ir;
}

TEST(EpilogueCodeTest, AResultThatIsReadTwiceIsStored) {
  tensor::WorkloadBuilder b("two");
  const tensor::Tensor c = tensor::Matmul(b, "c", b.Input("a", {8, 8}), b.Constant("w", {8, 16}));
  const tensor::Tensor d = tensor::Map(b, "d", c, tensor::Relu);
  const tensor::Tensor e =
      tensor::Zip(b, "e", c, d, [](const tensor::Expr& p, const tensor::Expr& q) { return p - q; });
  tensor::Program program = tensor::Lower(b.Build({e}));
  const std::vector<tensor::BlockId> blocks = program.BlocksInOrder();
  const tensor::LoopId row = program.LoopsAround(tensor::NodeRef::Block(blocks[0]))[0];
  ASSERT_TRUE(tensor::ReverseComputeAt(program, blocks[1], row).ok());
  ASSERT_TRUE(tensor::ReverseComputeAt(program, blocks[2], row).ok());
  ExpectMatchesInterpreter(program, RandomArguments(b.Build({e}), 9), "two readers");
}

}  // namespace
}  // namespace bayloom::testing
