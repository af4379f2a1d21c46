// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <set>

#include "bayloom/plan/open_axes.h"
#include "bayloom/sketch/gpu/gpu_spaces.h"
#include "tests/codegen/gpu_run.h"
#include "tests/codegen/gpu_schedules.h"
#include "tests/effort.h"
#include "tests/tensor/open_workloads.h"

namespace bayloom::testing {
namespace {

using Tries = std::vector<std::vector<int64_t>>;

/// SizesToTry, and sizes beside those at which the program's loops take one step more.
Tries SizesBesideTiles(const tensor::Workload& workload, const tensor::Program& program,
                       base::RandomStream random) {
  Tries tries = SizesToTry(workload, 2, static_cast<uint64_t>(random.UniformInt(1000)));
  if (workload.buffers[static_cast<size_t>(workload.SizeCount()) - 1].name == "total") return tries;
  std::set<std::pair<tensor::BufferId, int64_t>> limits;
  for (const auto& [digit, axes] : plan::PlanOpenDigits(program)) {
    for (const plan::OpenAxis& axis : axes) {
      const int64_t step = axis.index.CoefficientOf(digit);
      const int64_t steps = 1 + random.UniformInt(program.digit_extents[digit]);
      limits.emplace(axis.size, step * steps + axis.index.constant);
    }
  }
  for (const auto& [size, limit] : limits) {
    const tensor::SizeRange range = workload.buffers[static_cast<size_t>(size)].range;
    tries.push_back(tries[static_cast<size_t>(random.UniformInt(4))]);
    tries.back()[static_cast<size_t>(size)] =
        std::clamp(limit - 1 + random.UniformInt(3), range.smallest, range.largest);
  }
  return tries;
}

/// Of an output that held `before` in each byte: what was written beyond the bounds.
int64_t CountBeyondBounds(const tensor::Buffer& buffer, const std::vector<int64_t>& sizes,
                          tensor::HostTensor tensor, uint8_t before) {
  const int64_t bytes = tensor::ByteSize(buffer.dtype);
  ForEachWithinBounds(buffer, sizes, [&](int64_t at, int64_t) {
    std::memset(&tensor.data[static_cast<size_t>(at * bytes)], before, static_cast<size_t>(bytes));
  });
  return std::ranges::count_if(tensor.data, [&](std::byte b) { return b != std::byte{before}; });
}

codegen::StandInOptions OptionsOf(uint64_t seed) {
  return {static_cast<codegen::StandInOptions::Order>(seed % 3), seed, seed % 2 == 1};
}

/// One program for all sizes, in grids that fit the sizes and in those of the largest ones.
void ExpectRightOnStandIn(const tensor::Workload& workload, const tensor::Program& program,
                          const codegen::StandIn& stand_in, uint64_t seed) {
  constexpr uint8_t kUnwritten = 0xff;
  const tensor::Buffer& output = workload.buffers[workload.Parameters().back()];
  for (const std::vector<int64_t>& sizes :
       SizesBesideTiles(workload, program, base::RandomStream(seed))) {
    std::string what = "sizes";
    for (int64_t size : sizes) what += " " + std::to_string(size);
    SCOPED_TRACE(what);
    std::vector<tensor::HostTensor> expected = OpenArguments(workload, sizes, 7);
    std::vector<tensor::HostTensor> actual = expected;
    tensor::Interpret(tensor::Lower(workload), expected);
    const Status done = RunOnStandIn(program, stand_in, actual, OptionsOf(seed++));
    ASSERT_TRUE(done) << done.error().message;
    ExpectClose(WithinBounds(output, sizes, actual.back()),
                WithinBounds(output, sizes, expected.back()), ToleranceOf(output.dtype), what);
    ASSERT_EQ(CountBeyondBounds(output, sizes, actual.back(), kUnwritten), 0);
    ASSERT_FALSE(::testing::Test::HasFatalFailure());
  }
}

class GpuOpenAxes : public ::testing::TestWithParam<OpenWorkload> {};

TEST_P(GpuOpenAxes, AreRightUnderRandomSchedules) {
  constexpr int kSchedules = 25;
  const tensor::Workload workload = GetParam().Open();
  int run = 0;
  std::string refusals;
  for (int i = 0; i < kSchedules * Effort(); ++i) {
    const uint64_t seed = 300 + static_cast<uint64_t>(i);
    tensor::Program program = tensor::Lower(workload);
    GpuScheduler(program, base::RandomStream(seed)).Run();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + tensor::Print(program));
    const auto stand_in = codegen::StandIn::Compile(program, Hopper());
    if (!stand_in) {
      refusals += stand_in.error().message + "\n";
      continue;
    }
    ++run;
    ExpectRightOnStandIn(workload, program, *stand_in, seed);
    if (HasFailure()) return;
  }
  RecordProperty("run", run);
  EXPECT_GE(2 * run, kSchedules * Effort()) << refusals;
}

TEST_P(GpuOpenAxes, AreRightInCandidatesOfDesignSpaces) {
  const tensor::Workload workload = GetParam().Open();
  const sketch::GpuSpaces spaces(workload, Hopper());
  const int count = static_cast<int>(spaces.spaces().size());
  int run = 0;
  for (int i = 0; i < 8 * Effort(); ++i) {
    const uint64_t seed = 40 + static_cast<uint64_t>(i);
    const auto candidate = spaces.Sample(i % count, base::RandomStream(seed));
    ASSERT_TRUE(candidate) << candidate.error().message;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + tensor::Print(candidate->program));
    const auto stand_in = codegen::StandIn::Compile(candidate->program, Hopper());
    ASSERT_TRUE(stand_in) << stand_in.error().message;
    ++run;
    ExpectRightOnStandIn(workload, candidate->program, *stand_in, seed);
    if (HasFailure()) return;
  }
  RecordProperty("run", run);
}

/// Products of float16 for tensor cores: rows are open, those of whole matrices or not.
std::vector<OpenWorkload> MatrixProducts() {
  using W = OpenWorkloadWriter;
  const auto wide = [](tensor::Expr e) {
    return tensor::Cast(tensor::DType::kFloat32, std::move(e));
  };
  const auto product = [wide](int64_t largest, int64_t depth, int64_t columns) {
    return [=](W& b) {
      const W::Extent n = b.Size("n", 1, largest);
      const tensor::Tensor x = b.Input("x", {n, depth}, tensor::DType::kFloat16);
      const tensor::Tensor w = b.Constant("w", {depth, columns}, tensor::DType::kFloat16);
      const tensor::Tensor y = b.Reduce(
          "product", {n, columns}, {depth}, tensor::Reduction::kSum,
          [&](const auto& s, const auto& r) { return wide(x(s[0], r[0])) * wide(w(r[0], s[1])); });
      return b.Build({b.Compute("relu", {n, columns}, [&](const auto& i) {
        return tensor::Max(y(i[0], i[1]), tensor::FloatLiteral(0));
      })});
    };
  };
  return {{"whole_matrices", product(128, 64, 64)},
          {"padded_rows", product(75, 32, 32)},
          {"all_padded", product(50, 40, 20)},
          {"open_columns", [wide](W& b) {
             const W::Extent n = b.Size("n", 1, 61);
             const tensor::Tensor x = b.Input("x", {32, 48}, tensor::DType::kFloat16);
             const tensor::Tensor y = b.Input("y", {n, 48}, tensor::DType::kFloat16);
             const tensor::Tensor z = b.Reduce("scores", {32, n}, {48}, tensor::Reduction::kSum,
                                               [&](const auto& s, const auto& r) {
                                                 return wide(x(s[0], r[0])) * wide(y(s[1], r[0]));
                                               });
             return b.Build({b.Compute("scaled", {32, n}, [&](const auto& i) {
               return z(i[0], i[1]) * tensor::FloatLiteral(0.25);
             })});
           }}};
}

class GpuOpenMatrices : public ::testing::TestWithParam<OpenWorkload> {};

TEST_P(GpuOpenMatrices, AreMultipliedByTensorCores) {
  const tensor::Workload workload = GetParam().Open();
  const sketch::GpuSpaces spaces(workload, HopperAlone());
  const int count = static_cast<int>(spaces.spaces().size());
  int64_t products = 0;
  for (int i = 0; i < 2 * count * Effort(); ++i) {
    const uint64_t seed = 40 + static_cast<uint64_t>(i);
    const auto candidate = spaces.Sample(i % count, base::RandomStream(seed));
    ASSERT_TRUE(candidate) << candidate.error().message;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + tensor::Print(candidate->program));
    const auto stand_in = codegen::StandIn::Compile(candidate->program, HopperAlone());
    ASSERT_TRUE(stand_in) << stand_in.error().message;
    ExpectRightOnStandIn(workload, candidate->program, *stand_in, seed);
    if (HasFailure()) return;
    std::vector<tensor::HostTensor> arguments =
        OpenArguments(workload, {workload.buffers[0].range.largest}, 7);
    codegen::StandInCounts seen;
    ASSERT_TRUE(RunOnStandIn(candidate->program, *stand_in, arguments, {}, &seen));
    products += seen.products > 0 ? 1 : 0;
  }
  RecordProperty("by_tensor_cores", static_cast<int>(products));
  EXPECT_GE(products, 2);
}

INSTANTIATE_TEST_SUITE_P(Some, GpuOpenMatrices, ::testing::ValuesIn(MatrixProducts()),
                         [](const auto& open) { return open.param.name; });

/// What the program's kernels do at sizes of the workload.
codegen::StandInCounts CountsAt(const tensor::Workload& workload, const tensor::Program& program,
                                const std::vector<int64_t>& sizes, bool largest_grids = false) {
  const auto stand_in = codegen::StandIn::Compile(program, Hopper());
  EXPECT_TRUE(stand_in) << stand_in.error().message;
  std::vector<tensor::HostTensor> arguments = OpenArguments(workload, sizes, 7);
  codegen::StandInOptions options;
  options.largest_grids = largest_grids;
  codegen::StandInCounts seen;
  const Status done = RunOnStandIn(program, *stand_in, arguments, options, &seen);
  EXPECT_TRUE(done) << done.error().message;
  return seen;
}

OpenWorkload WorkloadNamed(const std::string& name) {
  const std::vector<OpenWorkload> all = OpenCatalogue();
  return *std::ranges::find(all, name, &OpenWorkload::name);
}

TEST(GpuOpenGrids, HaveTheBlocksThatASizeNeeds) {
  const tensor::Workload workload = WorkloadNamed("elementwise").Open();  // 1..40 rows of 9
  tensor::Program program = tensor::Lower(workload);
  ASSERT_TRUE(tensor::ComputeInline(program, program.FindBlock("twice")));
  const auto loops = program.LoopsAround(tensor::NodeRef::Block(program.FindBlock("next")));
  const tensor::LoopId both = *tensor::Fuse(program, loops);
  ASSERT_TRUE(tensor::Bind(program, both, tensor::LoopKind::kGridThread, 32));
  EXPECT_EQ(CountsAt(workload, program, {40}).threads, 384);  // of 360 elements
  EXPECT_EQ(CountsAt(workload, program, {7}).threads, 64);    // of 63
  EXPECT_EQ(CountsAt(workload, program, {1}).threads, 32);
  const codegen::StandInCounts seven = CountsAt(workload, program, {7}),
                               in_largest = CountsAt(workload, program, {7}, true);
  EXPECT_EQ(in_largest.threads, 384);
  // An element is read and written; the others read the size alone.
  EXPECT_EQ(seven.accesses, 64 + 2 * 63);
  EXPECT_EQ(in_largest.accesses, 384 + 2 * 63);
}

TEST(GpuOpenGrids, SumsEndAtTheirSize) {
  const tensor::Workload workload = WorkloadNamed("matmul_sum").Open();  // 12 x 24, sums of 1..64
  tensor::Program program = tensor::Lower(workload);
  const tensor::BlockId block = program.FindBlock("product");
  ASSERT_TRUE(tensor::CacheWrite(program, block, tensor::StorageScope::kLocal));
  const auto loops = program.LoopsAround(tensor::NodeRef::Block(block));
  const tensor::LoopId grid =
      *tensor::Fuse(program, std::vector<tensor::LoopId>{loops[0], loops[1]});
  ASSERT_TRUE(tensor::Bind(program, grid, tensor::LoopKind::kGridThread, 96));
  ASSERT_TRUE(
      tensor::ReverseComputeAt(program, program.WriterOf(workload.Parameters().back()), grid));
  for (const int64_t n : {1, 5, 64}) {
    EXPECT_EQ(CountsAt(workload, program, {n}).accesses, 12 * 24 * (1 + 2 * n + 1));
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, GpuOpenAxes, ::testing::ValuesIn(OpenCatalogue()),
                         [](const auto& open) { return open.param.name; });

}  // namespace
}  // namespace bayloom::testing
