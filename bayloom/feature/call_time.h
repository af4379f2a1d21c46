// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/target/machine_model.h"
#include "bayloom/tensor/library_call.h"
#include "bayloom/tensor/program.h"

namespace bayloom::feature {

/// What a call of the library may take: its kernel goes through elements one by one.
inline double CallSeconds(const tensor::Block& block, const target::MachineModel& machine) {
  constexpr double kOperationsPerElement = 2;
  return kOperationsPerElement * machine.multiply_add.alone *
         tensor::OperationsOf(*tensor::AsCall(block.value));
}

}  // namespace bayloom::feature
