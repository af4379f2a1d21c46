// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "bayloom/plan/cpu/cpu_plan.h"

namespace bayloom::feature {

/// Per digit, how many steps are taken together: all or none of them. Digits that are not there
/// take one at a time.
using StepsTogether = std::map<tensor::DigitId, int64_t>;

/// The program with the loop steps that it takes in a run with these values of its sizes, on
/// average where that differs between iterations of loops around. It is for counting: what is
/// decided about its code is `plan`, the plan of the whole program.
tensor::Program ProgramOfRun(const tensor::Program& program, const plan::CpuPlan& plan,
                             std::span<const int64_t> sizes);

/// The same of a program whose loops end as `open` says.
tensor::Program ProgramOfRun(const tensor::Program& program, const plan::OpenDigits& open,
                             const StepsTogether& together, std::span<const int64_t> sizes);

}  // namespace bayloom::feature
