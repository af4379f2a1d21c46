// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>

#include "bayloom/base/hash.h"
#include "bayloom/base/random.h"
#include "bayloom/scheduling/task_progress.h"

namespace bayloom::scheduling {

/// Slots that all tasks together have had.
inline int TotalSlots(std::span<const TaskProgress> tasks) {
  int slots = 0;
  for (const TaskProgress& task : tasks) slots += task.slots();
  return slots;
}

/// The random numbers of one slot's decision: a resumed session draws the same ones.
inline base::RandomStream RandomOfSlot(uint64_t seed, std::span<const TaskProgress> tasks) {
  return base::RandomStream(
      base::Hasher().Add(seed).Add(static_cast<uint64_t>(TotalSlots(tasks))).Digest());
}

}  // namespace bayloom::scheduling
