// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/estimated_choice.h"

#include <gtest/gtest.h>

#include "bayloom/tensor/operators.h"
#include "tests/temporary_folder.h"
#include "tests/tensor/workloads.h"
#include "tests/tuning/two_cores.h"

namespace bayloom::tuning {
namespace {

tensor::Workload ProductOfOpenRows() {
  tensor::WorkloadBuilder b("product");
  const tensor::BufferId rows = b.Size("rows", {1, 512});
  const tensor::Tensor x = b.Input("x", {512, 64});
  b.Bound(x, 0, rows);
  const tensor::Tensor y = tensor::Matmul(b, "matmul", x, b.Constant("w", {64, 96}));
  b.Bound(y, 0, rows);
  tensor::Workload workload = b.Build({y});
  workload.points = {{512}, {64}, {8}, {1}};
  return workload;
}

class EstimatedChoiceTest : public ::testing::Test {
 protected:
  /// What a process of its own chooses, and whether it has to search for it.
  struct Chosen {
    uint64_t largest;
    std::vector<uint64_t> small;
    bool is_searched;
  };
  Chosen Choose(const sketch::SpaceGenerator& space, uint64_t seed = 0) {
    UserStore store(folder_ / "programs.db", UserStore::Mode::kWrite, {});
    bool is_searched = false;
    ZeroTrialOptions options = {.population = 64, .generations = 1, .seed = seed};
    options.accepts = [&](const tensor::Program&) { return is_searched = true; };
    base::ThreadPool pool(1);
    const sketch::DerivationChoice derivations;
    EstimatedChoice choice(space, derivations, options, &store, pool);
    const sketch::Candidate largest = choice.Largest({});
    Chosen chosen = {largest.hash, {}, false};
    for (const SmallCandidate& small : choice.Small(largest)) {
      chosen.small.push_back(small.candidate.hash);
    }
    chosen.is_searched = is_searched;
    return chosen;
  }

  TemporaryFolder folder_;
};

TEST_F(EstimatedChoiceTest, IsSearchedOnce) {
  for (const tensor::Workload& workload :
       {tensor::MatmulWorkload(48, 64, 32), ProductOfOpenRows()}) {
    const sketch::SpaceGenerator space(workload, TwoCores());
    const Chosen first = Choose(space), again = Choose(space);
    EXPECT_TRUE(first.is_searched);
    EXPECT_FALSE(again.is_searched);
    EXPECT_EQ(again.largest, first.largest);
    EXPECT_EQ(again.small, first.small);
  }
}

TEST_F(EstimatedChoiceTest, IsAnotherOneInSpacesOfOtherDerivations) {
  const tensor::Workload workload =
      tensor::Conv2dWorkload(bayloom::testing::ConvShape(16, 16, 16, 3, 1));
  const sketch::SpaceGenerator plain(workload, TwoCores(), {},
                                     *sketch::DerivationChoice::Parse("none"));
  const sketch::SpaceGenerator all(workload, TwoCores());
  ASSERT_NE(plain.spaces().size(), all.spaces().size());
  EXPECT_TRUE(Choose(plain).is_searched);
  EXPECT_TRUE(Choose(all).is_searched);
}

TEST_F(EstimatedChoiceTest, IsAnotherOneWhereAnythingDiffers) {
  const tensor::Workload workload = tensor::MatmulWorkload(48, 64, 32);
  target::Target other = TwoCores();
  other.cores = 7;
  tensor::Workload fewer_points = ProductOfOpenRows();
  fewer_points.points.pop_back();
  EXPECT_TRUE(Choose({workload, TwoCores()}).is_searched);
  EXPECT_TRUE(Choose({workload, TwoCores()}, /*seed=*/1).is_searched);
  EXPECT_TRUE(Choose({workload, other}).is_searched);
  EXPECT_TRUE(Choose({tensor::MatmulWorkload(48, 64, 48), TwoCores()}).is_searched);
  EXPECT_TRUE(Choose({ProductOfOpenRows(), TwoCores()}).is_searched);
  EXPECT_TRUE(Choose({fewer_points, TwoCores()}).is_searched);
}

}  // namespace
}  // namespace bayloom::tuning
