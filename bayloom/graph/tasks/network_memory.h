// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

namespace bayloom::graph {

/// A block of memory that is needed during a range of steps.
struct MemoryRequest {
  int64_t bytes;
  int first_step;  ///< written in this step
  int last_step;   ///< read for the last time in this step
};

/// Places for all requests in one arena: requests whose ranges of steps overlap do not overlap in
/// memory. Offsets are multiples of 64 bytes.
struct ArenaPlan {
  std::vector<int64_t> offsets;  ///< parallel to the requests
  int64_t arena_bytes = 0;
};

/// Greedy by size (Pisarchyk and Lee 2020): the largest request first, each into the tightest gap
/// between those that live at the same time.
ArenaPlan PlanMemory(const std::vector<MemoryRequest>& requests);

}  // namespace bayloom::graph
