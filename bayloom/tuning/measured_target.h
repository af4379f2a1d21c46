// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <string>

#include "bayloom/measure/load_monitor.h"
#include "bayloom/record/store.h"
#include "bayloom/target/target.h"
#include "bayloom/tuning/user_store.h"

namespace bayloom::tuning {

/// Told where a machine has to be measured; all are set.
struct MeasuringNotices {
  std::function<void()> measuring;                    ///< before it takes seconds
  std::function<void(const std::string&)> disturbed;  ///< by other processes: how, in one line
  /// Asked whether other processes would disturb a measurement for so many threads.
  std::function<bool(int threads)> is_busy = measure::IsBusyNow;
};

/// The target as the store has it, with the machine that was measured when it was added, if any:
/// what is resumed or used later is so estimated and compiled as it was. A target that is new to
/// the store is added with the machine that the user's store knows, if there is one: measured in
/// quiet, it is worth more than what could be measured now, and programs without trials are the
/// same in all commands. While the machine is busy, one that was measured on a busy machine will
/// do. Otherwise it is measured, which the notices tell, and kept. Throws InputError if it is not
/// this machine.
target::Target MeasuredTarget(record::Store& store, UserStore& user_store, target::Target target,
                              const MeasuringNotices& notices);

}  // namespace bayloom::tuning
