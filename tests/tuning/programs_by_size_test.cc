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
  const ProgramsBySize programs = FastestBySize(space, {}, {}, {.population = 128}, pool);
  ASSERT_FALSE(programs.small.empty());
  EXPECT_LE(programs.small.size(), 2);
  const tensor::Program& largest = programs.largest.program;
  int64_t before = 0;
  for (const SmallCandidate& small : programs.small) {
    EXPECT_EQ(small.size, 0);
    EXPECT_GT(small.up_to, before);
    EXPECT_LT(small.up_to, 512);
    before = small.up_to;
    const tensor::Program& program = small.candidate.program;
    for (const tensor::BufferId id : largest.Parameters()) {
      EXPECT_EQ(program.buffers[id].layout, largest.buffers[id].layout);
    }
  }
  EXPECT_LT(TimeAt(programs.small.front().candidate.program, 1), TimeAt(largest, 1));
}

}  // namespace
}  // namespace bayloom::tuning
