// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <string>

#include "bayloom/record/store.h"
#include "bayloom/target/target.h"

namespace bayloom::tuning {

/// The target as the store has it, with the machine that was measured when it was added, if any:
/// what is resumed or used later is so estimated and compiled as it was. A target that is new to
/// the store is measured and added first; `warning` is told, in one line, if other processes
/// disturbed that. Throws InputError if it is not this machine.
target::Target MeasuredTarget(record::Store& store, target::Target target,
                              const std::function<void(const std::string&)>& warning);

}  // namespace bayloom::tuning
