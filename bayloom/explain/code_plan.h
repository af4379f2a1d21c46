// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bayloom/target/target.h"
#include "bayloom/tensor/program.h"

namespace bayloom::explain {

/// What code is made of a program (module plan), as people read it. Of a processor's a list of the
/// blocks that have code of their own, in order:
///
///     {block, lanes?, registers?, unrolled: [loop], sums?: {registers, steps: {loop: steps},
///      loops: [loop], from_zero}, fold?: {loop, lanes}, instruction?, depth?, guards?,
///      also?: [block that is computed on the sums' registers]}, or {block, library}
///
/// `steps` are those of a loop whose sums are held together, `loops` those that run on them. Of a
/// GPU's a list of kernels: {kernel, blocks, threads, shared_bytes, barriers, unrolled: [loop],
/// instructions?: [name], stages?}. {refused: reason} where there is no code.
nlohmann::json CodePlanOf(const tensor::Program& program, const target::Target& target);

/// The same, a line for each block or kernel.
std::vector<std::string> CodePlanLines(const nlohmann::json& plan);

}  // namespace bayloom::explain
