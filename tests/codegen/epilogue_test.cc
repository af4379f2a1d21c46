#include "bayloom/codegen/compile.h"
#include "bayloom/tensor/operators.h"
#include "tests/codegen/compiled.h"
#include "tests/codegen/random_tiles.h"
#include "tests/tensor/workloads.h"

namespace bayloom::testing {
namespace {

struct EpilogueCase {
  std::string name;
  Workload workload;
};
void PrintTo(const EpilogueCase& named, std::ostream* out) { *out << named.name; }

/// What follows a product of [5, 12] and [12, 34].
template <typename Epilogue>
EpilogueCase AfterMatmul(const std::string& name, const Epilogue& epilogue) {
  WorkloadBuilder b(name);
  const Tensor product = Matmul(b, "c", b.Input("a", {5, 12}), b.Constant("w", {12, 34}));
  return {name, b.Build({epilogue(b, product)})};
}

std::vector<EpilogueCase> EpilogueCases() {
  std::vector<EpilogueCase> all;
  all.push_back(AfterMatmul(
      "relu", [](WorkloadBuilder& b, const Tensor& c) { return Map(b, "e", c, Relu); }));
  all.push_back(AfterMatmul(  // reads the product twice
      "silu", [](WorkloadBuilder& b, const Tensor& c) { return Map(b, "e", c, Silu); }));
  all.push_back(AfterMatmul("add", [](WorkloadBuilder& b, const Tensor& c) {
    const Tensor x = b.Input("x", {5, 34});
    return Zip(b, "e", c, x, [](const Expr& p, const Expr& q) { return p + q; });
  }));
  all.push_back(AfterMatmul("half", [](WorkloadBuilder& b, const Tensor& c) {
    return Map(b, "e", c, [](const Expr& e) { return Cast(DType::kFloat16, e); });
  }));
  all.push_back(AfterMatmul("transposed", [](WorkloadBuilder& b, const Tensor& c) {
    return b.Compute("e", {34, 5}, [&](const auto& at) { return c(at[1], at[0]); });
  }));
  all.push_back(AfterMatmul("broadcast", [](WorkloadBuilder& b, const Tensor& c) {
    return b.Compute("e", {3, 5, 34}, [&](const auto& at) { return c(at[1], at[2]); });
  }));
  all.push_back(AfterMatmul("shifted", [](WorkloadBuilder& b, const Tensor& c) {
    return b.Compute("e", {4, 33}, [&](const auto& at) { return c(at[0] + 1, at[1] + 1); });
  }));
  all.push_back(AfterMatmul("one_row", [](WorkloadBuilder& b, const Tensor& c) {
    return b.Compute("e", {34}, [&](const auto& at) { return c(0, at[0]); });
  }));
  Conv2dShape shape = ConvShape(7, 3, 20, 3, 1);
  shape.epilogue = {.bias = true, .residual = false, .relu = false};
  all.push_back({"conv2d", Conv2dWorkload(shape)});
  return all;
}

class EpilogueTest : public ::testing::TestWithParam<EpilogueCase> {};

TEST_P(EpilogueTest, TilesComputeWhatTheNaiveProgramComputes) {
  constexpr int kSchedules = 60;
  const Workload& workload = GetParam().workload;
  const std::vector<HostTensor> inputs = RandomArguments(workload, 5);
  std::vector<HostTensor> expected = inputs;
  const Program naive = Lower(workload);
  Interpret(naive, expected);
  const DType dtype = naive.buffers[naive.Parameters().back()].dtype;
  RandomStream random(23);
  for (int i = 0; i < kSchedules; ++i) {
    Program program = naive;
    const std::vector<BlockId> blocks = program.BlocksInOrder();
    const std::vector<LoopId> outer = TileAtRandom(program, blocks[blocks.size() - 2], random);
    const LoopId at = outer[random.UniformInt(static_cast<int64_t>(outer.size()))];
    const bool moved = ReverseComputeAt(program, blocks.back(), at).ok();
    if (moved) {
      (void)Vectorize(program, program.LoopsAround(NodeRef::Block(blocks.back())).back());
      UnrollAndParallelizeAtRandom(program, random);
    }
    SCOPED_TRACE(Print(program));
    std::vector<HostTensor> actual = inputs;
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
Program TiledMatmulWithEpilogue() {
  Program program = Lower(MatmulWorkload(64, 64, 64, DType::kFloat32, {.bias = true}));
  const std::vector<BlockId> blocks = program.BlocksInOrder();
  const std::vector<LoopId> loops = program.LoopsAround(NodeRef::Block(blocks[0]));
  const std::vector<LoopId> i = *Split(program, loops[0], std::vector<int64_t>{-1, 8});
  const std::vector<LoopId> j = *Split(program, loops[1], std::vector<int64_t>{-1, 32});
  EXPECT_TRUE(Reorder(program, std::vector<LoopId>{i[0], j[0], loops[2], i[1], j[1]}).ok());
  EXPECT_TRUE(Vectorize(program, j[1]).ok());
  EXPECT_TRUE(ReverseComputeAt(program, blocks[1], j[0]).ok());
  return program;
}

TEST(EpilogueCodeTest, AResultGoesFromRegistersThroughItsConsumerToTheOutput) {
  const std::string ir = *EmitLlvmIr(TiledMatmulWithEpilogue(), HostTarget(), "f");
  EXPECT_EQ(ir.find("alloca"), std::string::npos) << ir;
}

TEST(EpilogueCodeTest, AResultThatIsReadTwiceIsStored) {
  WorkloadBuilder b("two");
  const Tensor c = Matmul(b, "c", b.Input("a", {8, 8}), b.Constant("w", {8, 16}));
  const Tensor d = Map(b, "d", c, Relu);
  const Tensor e = Zip(b, "e", c, d, [](const Expr& p, const Expr& q) { return p - q; });
  Program program = Lower(b.Build({e}));
  const std::vector<BlockId> blocks = program.BlocksInOrder();
  const LoopId row = program.LoopsAround(NodeRef::Block(blocks[0]))[0];
  ASSERT_TRUE(ReverseComputeAt(program, blocks[1], row).ok());
  ASSERT_TRUE(ReverseComputeAt(program, blocks[2], row).ok());
  ExpectMatchesInterpreter(program, RandomArguments(b.Build({e}), 9), "two readers");
}

}  // namespace
}  // namespace bayloom::testing
