// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "bayloom/tensor/interpreter.h"
#include "bayloom/tensor/program.h"
#include "bayloom/tensor/workload.h"
#include "tests/tensor/workloads.h"

namespace bayloom::sketch {

/// Expects that a program computes the last output of its workload, within a relative tolerance.
inline void ExpectSameResult(const tensor::Workload& workload, const tensor::Program& program,
                             double tolerance = 1e-5) {
  const std::vector<tensor::HostTensor> inputs = testing::RandomArguments(workload, 3);
  std::vector<tensor::HostTensor> expected = inputs, actual = inputs;
  tensor::Interpret(tensor::Lower(workload), expected);
  ASSERT_TRUE(tensor::Validate(program));
  tensor::InterpretStrictly(program, actual);
  for (int64_t i = 0; i < actual.back().ElementCount(); ++i) {
    const double want = expected.back().Get(i);
    ASSERT_NEAR(actual.back().Get(i), want, tolerance * (1 + std::abs(want)))
        << tensor::Print(program);
  }
}

}  // namespace bayloom::sketch
