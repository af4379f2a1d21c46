// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "bayloom/sketch/design_space.h"
#include "tests/codegen/compiled.h"
#include "tests/tensor/workloads.h"

namespace bayloom::testing {

/// Programs drawn from the design spaces of `scheduled`, `seeds` of each, give, compiled for this
/// machine, what `workload` says. Both have the same inputs; those that are refused do not count.
inline void ExpectCompiledSpacesAreRight(const tensor::Workload& workload,
                                         const tensor::Workload& scheduled, int seeds,
                                         double tolerance) {
  const target::Target target = codegen::HostTarget(2);
  const sketch::SpaceGenerator generator(scheduled, target);
  const std::vector<tensor::HostTensor> inputs = RandomArguments(workload, 7);
  std::vector<tensor::HostTensor> expected = inputs;
  tensor::Interpret(tensor::Lower(workload), expected);
  int compiled = 0;
  for (int space = 0; space < static_cast<int>(generator.spaces().size()); ++space) {
    for (int seed = 0; seed < seeds; ++seed) {
      const Result<sketch::Candidate> candidate = generator.Sample(space, base::RandomStream(seed));
      if (!candidate) continue;
      SCOPED_TRACE(tensor::Print(candidate->program));
      std::vector<tensor::HostTensor> actual = inputs;
      RunCompiled(candidate->program, actual, target);
      ASSERT_FALSE(::testing::Test::HasFatalFailure());
      ASSERT_LT(RelativeDifference(actual.back(), expected.back()), tolerance);
      ++compiled;
    }
  }
  EXPECT_GT(compiled, 0);
}

}  // namespace bayloom::testing
