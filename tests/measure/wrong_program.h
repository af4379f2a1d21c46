// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/tensor/program.h"
#include "bayloom/tensor/workload.h"

namespace bayloom::measure {

/// A program that computes something else than its workload.
inline tensor::Program WrongProgram(const tensor::Workload& workload) {
  tensor::Program program = tensor::Lower(workload);
  tensor::Block& block = program.blocks[program.BlocksInOrder().back()];
  block.value = block.value + tensor::FloatLiteral(0.5);
  return program;
}

}  // namespace bayloom::measure
