#pragma once

#include <cstdint>
#include <span>

#include "bayloom/base/hash.h"
#include "bayloom/base/random.h"
#include "bayloom/scheduling/task_progress.h"

namespace bayloom {

/// Slots that all tasks together have had.
inline int TotalSlots(std::span<const TaskProgress> tasks) {
  int slots = 0;
  for (const TaskProgress& task : tasks) slots += task.slots();
  return slots;
}

/// The random numbers of one slot's decision: a resumed session draws the same ones.
inline RandomStream RandomOfSlot(uint64_t seed, std::span<const TaskProgress> tasks) {
  return RandomStream(Hasher().Add(seed).Add(static_cast<uint64_t>(TotalSlots(tasks))).Digest());
}

}  // namespace bayloom
