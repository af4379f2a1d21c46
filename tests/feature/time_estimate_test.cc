#include "bayloom/feature/time_estimate.h"

#include <gtest/gtest.h>

#include "bayloom/tensor/operators.h"
#include "bayloom/tensor/primitives.h"

namespace bayloom {
namespace {

constexpr int64_t kSize = 512;

Workload Product() {
  WorkloadBuilder b("matmul");
  Tensor x = b.Input("x", {kSize, kSize}), y = b.Input("y", {kSize, kSize});
  Tensor z = b.Reduce("z", {kSize, kSize}, {{"k", kSize}}, Reduction::kSum,
                      [&](auto s, auto r) { return x(s[0], r[0]) * y(r[0], s[1]); });
  return b.Build({z});
}

Target FourCores() {
  Target target;
  target.cores = 4;
  return target;
}

double EstimateOf(const Program& program) { return EstimateTime(program, FourCores()); }

TEST(TimeEstimateTest, FullVectorsAreFasterThanPartsOfThem) {
  const auto vectorized = [](int64_t lanes) {
    Program program = Lower(Product());
    const BlockId block = program.FindBlock("z");
    const LoopId j = program.LoopsAround(NodeRef::Block(block))[1];
    const std::vector<LoopId> parts =
        *Split(program, j, std::vector<int64_t>{kSize / lanes, lanes});
    EXPECT_TRUE(Reorder(
        program, std::vector<LoopId>{program.LoopsAround(NodeRef::Block(block))[3], parts[1]}));
    EXPECT_TRUE(Vectorize(program, parts[1]));
    return EstimateOf(program);
  };
  EXPECT_LT(vectorized(8), 0.6 * vectorized(4));
  EXPECT_LT(vectorized(4), 0.6 * vectorized(2));
}

TEST(TimeEstimateTest, JobsThatDivideEvenlyAmongCoresAreFastest) {
  const auto parallel = [](int64_t jobs) {
    Program program = Lower(Product());
    const LoopId i = program.LoopsAround(NodeRef::Block(program.FindBlock("z")))[0];
    const std::vector<LoopId> parts = *Split(program, i, std::vector<int64_t>{jobs, kSize / jobs});
    EXPECT_TRUE(Parallelize(program, parts[0]));
    return EstimateOf(program);
  };
  EXPECT_NEAR(parallel(4) / EstimateOf(Lower(Product())), 0.25, 0.01);
  EXPECT_NEAR(parallel(2) / parallel(4), 2, 0.02);
  EXPECT_LT(parallel(4), parallel(512));
}

TEST(TimeEstimateTest, TilesThatFitIntoCachesAreFaster) {
  Program tiled = Lower(Product());
  const std::vector<LoopId> loops = tiled.LoopsAround(NodeRef::Block(tiled.FindBlock("z")));
  const std::vector<int64_t> tiles = {kSize / 64, 64};
  const std::vector<LoopId> i = *Split(tiled, loops[0], tiles);
  const std::vector<LoopId> j = *Split(tiled, loops[1], tiles);
  const std::vector<LoopId> k = *Split(tiled, loops[2], tiles);
  EXPECT_TRUE(Reorder(tiled, std::vector<LoopId>{i[0], j[0], k[0], i[1], j[1], k[1]}));
  EXPECT_LT(EstimateOf(tiled), EstimateOf(Lower(Product())));
}

}  // namespace
}  // namespace bayloom
