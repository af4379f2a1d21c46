// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/programs_by_size.h"

#include <gtest/gtest.h>

#include "bayloom/codegen/host.h"
#include "bayloom/feature/code_estimate.h"
#include "bayloom/tensor/operators.h"

namespace bayloom::tuning {
namespace {

/// One to 512 rows times a constant matrix.
tensor::Workload OpenProduct() {
  tensor::WorkloadBuilder b("product");
  const tensor::BufferId rows = b.Size("rows", {1, 512});
  const tensor::Tensor x = b.Input("x", {512, 128});
  b.Bound(x, 0, rows);
  const tensor::Tensor y = tensor::Matmul(b, "matmul", x, b.Constant("w", {128, 256}));
  b.Bound(y, 0, rows);
  tensor::Workload workload = b.Build({y});
  workload.points = {{512}, {128}, {32}, {8}, {1}};
  return workload;
}

double TimeAt(tensor::Program program, int64_t rows) {
  program.points = {{rows}};
  return feature::EstimateCodeTime(program, codegen::HostTarget());
}

TEST(ProgramsBySize, ThoseForFewRowsAreNoSlowerThereAndReadTheSameWeights) {
  const sketch::SpaceGenerator space(OpenProduct(), codegen::HostTarget());
  base::ThreadPool pool(1);
  const ZeroTrialOptions options = {.population = 128};
  const sketch::Candidate chosen = FastestForLargest(space, {}, {}, options, pool);
  const std::vector<SmallCandidate> small = FastestForSmall(space, {}, chosen, options, pool);
  ASSERT_FALSE(small.empty());
  EXPECT_LE(small.size(), 2);
  const tensor::Program& largest = chosen.program;
  int64_t before = 0;
  for (const SmallCandidate& each : small) {
    EXPECT_EQ(each.size, 0);
    EXPECT_GT(each.up_to, before);
    EXPECT_LT(each.up_to, 512);
    before = each.up_to;
    const tensor::Program& program = each.candidate.program;
    for (const tensor::BufferId id : largest.Parameters()) {
      EXPECT_EQ(program.buffers[id].layout, largest.buffers[id].layout);
    }
  }
  EXPECT_LT(TimeAt(small.front().candidate.program, 1), TimeAt(largest, 1));
}

}  // namespace
}  // namespace bayloom::tuning
