// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "bayloom/tensor/operators.h"
#include "tests/codegen/compiled.h"
#include "tests/codegen/random_tiles.h"
#include "tests/tensor/random_schedule.h"
#include "tests/tensor/workloads.h"

namespace bayloom::testing {
namespace {

struct LongSum {
  std::string name;
  tensor::Workload workload;
};
void PrintTo(const LongSum& named, std::ostream* out) { *out << named.name; }

tensor::Workload RowSums(int64_t rows, std::vector<tensor::WorkloadBuilder::Axis> axes) {
  std::vector<int64_t> shape = {rows};
  for (const auto& axis : axes) shape.push_back(axis.extent);
  tensor::WorkloadBuilder b("row_sums");
  const tensor::Tensor x = b.Input("x", shape);
  return b.Build({b.Reduce("y", {rows}, std::move(axes), tensor::Reduction::kSum,
                           [&](const auto& s, const auto& r) {
                             std::vector<tensor::Expr> index = {s[0]};
                             index.insert(index.end(), r.begin(), r.end());
                             return x.At(index);
                           })});
}

/// Sums of more terms than a block has: of a prime number of terms, over several axes, with guards
/// of padding, with divisors of all sizes.
std::vector<LongSum> LongSums() {
  std::vector<LongSum> all;
  all.push_back({"prime_rows", RowSums(3, {{"r", 18379}})});
  all.push_back({"two_axes", RowSums(3, {{"r", 60}, {"q", 61}})});
  all.push_back({"short_inner_axis", RowSums(5, {{"r", 2111}, {"q", 3}})});
  all.push_back({"matmul", tensor::MatmulWorkload(6, 34, 2048)});
  all.push_back({"prime_matmul", tensor::MatmulWorkload(5, 18, 1031)});
  all.push_back({"conv2d", tensor::Conv2dWorkload(ConvShape(6, 130, 20, 3, 1))});
  return all;
}

class SumBlocksTest : public ::testing::TestWithParam<LongSum> {};

/// The greatest error relative to the root mean square, of the last parameter.
double ErrorOf(const tensor::HostTensor& actual, const std::vector<double>& expected) {
  double square = 0, worst = 0;
  for (double e : expected) square += e * e;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double error = std::abs(actual.Get(static_cast<int64_t>(i)) - expected[i]);
    worst = error <= worst ? worst : error;
  }
  return worst / std::sqrt(square / static_cast<double>(expected.size()));
}

std::vector<double> ByDefinition(const tensor::Workload& workload,
                                 const std::vector<tensor::HostTensor>& inputs) {
  tensor::PointEvaluator evaluator(workload, inputs);
  const tensor::BufferId output = workload.Parameters().back();
  const std::vector<int64_t>& shape = workload.buffers[output].shape;
  std::vector<double> expected;
  for (int64_t i = 0; i < inputs.back().ElementCount(); ++i) {
    std::vector<int64_t> index(shape.size());
    int64_t rest = i;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) index[d] = rest % shape[d];
    expected.push_back(evaluator.Evaluate(output, index));
  }
  return expected;
}

tensor::BlockId ReductionOf(const tensor::Program& program) {
  const std::vector<tensor::BlockId> blocks = program.BlocksInOrder();
  return *std::ranges::find_if(blocks, [&](tensor::BlockId block) {
    return program.blocks[block].kind == tensor::BlockKind::kReduce;
  });
}

TEST_P(SumBlocksTest, RandomTilesComputeWhatIsDefined) {
  const tensor::Workload& workload = GetParam().workload;
  const std::vector<tensor::HostTensor> inputs = RandomArguments(workload, 5);
  const std::vector<double> expected = ByDefinition(workload, inputs);
  const tensor::Program naive = tensor::Lower(workload);
  base::RandomStream random(23);
  for (int i = 0; i < 25; ++i) {
    tensor::Program program = naive;
    if (i > 0) {
      TileAtRandom(program, ReductionOf(program), random);
      UnrollAndParallelizeAtRandom(program, random);
    }
    SCOPED_TRACE(tensor::Print(program));
    std::vector<tensor::HostTensor> actual = inputs;
    ASSERT_NO_THROW(RunCompiled(program, actual));
    ASSERT_FALSE(HasFatalFailure());
    ASSERT_LE(ErrorOf(actual.back(), expected), 1e-5);
  }
}

/// Other computations inside of reduction loops, factored reductions, and the rest.
TEST_P(SumBlocksTest, RandomSchedulesComputeWhatIsDefined) {
  const tensor::Workload& workload = GetParam().workload;
  const std::vector<tensor::HostTensor> inputs = RandomArguments(workload, 5);
  const std::vector<double> expected = ByDefinition(workload, inputs);
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    tensor::Program program = tensor::Lower(workload);
    RandomScheduler scheduler(program, seed);
    for (int step = 0; step < 30; ++step) scheduler.Step();
    for (tensor::Loop& loop : program.loops) {
      if (loop.kind > tensor::LoopKind::kUnrolled) loop.kind = tensor::LoopKind::kSerial;
    }
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + tensor::Print(program));
    std::vector<tensor::HostTensor> actual = inputs;
    ASSERT_NO_THROW(RunCompiled(program, actual));
    ASSERT_FALSE(HasFatalFailure());
    ASSERT_LE(ErrorOf(actual.back(), expected), 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(All, SumBlocksTest, ::testing::ValuesIn(LongSums()),
                         [](const auto& named) { return named.param.name; });

/// One float32 after the other, ones add up to 2^24 and stay there.
TEST(SumBlocksCodeTest, ManyOnesAreCounted) {
  constexpr int64_t kSteps = int64_t{1} << 22, kWidth = 8;
  tensor::WorkloadBuilder b("ones");
  const tensor::Tensor x = b.Input("x", {kWidth});
  const tensor::Workload workload =
      b.Build({b.Reduce("y", {1}, {{"r", kSteps}, {"q", kWidth}}, tensor::Reduction::kSum,
                        [&](const auto&, const auto& r) { return x(r[1]); })});
  std::vector<tensor::HostTensor> arguments = RandomArguments(workload, 1);
  for (int64_t i = 0; i < kWidth; ++i) arguments[0].Set(i, 1);
  RunCompiled(tensor::Lower(workload), arguments);
  EXPECT_EQ(arguments.back().Get(0), static_cast<double>(kSteps * kWidth));
}

}  // namespace
}  // namespace bayloom::testing
