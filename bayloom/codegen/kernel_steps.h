// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "bayloom/tensor/program.h"

namespace bayloom::codegen {

/// Nests of a program that follow each other: one parallel loop, or some that are run by one
/// thread.
struct NestStep {
  std::vector<tensor::NodeRef> nests;
  bool is_parallel;
};

/// A program as steps, each of which begins when the one before has ended: its parallel loops, and
/// what is between them. nullopt where threads have to meet within a nest (parallel loops inside of
/// serial ones of several iterations), and for calls of library kernels.
std::optional<std::vector<NestStep>> StepsOf(const tensor::Program& program);

}  // namespace bayloom::codegen
