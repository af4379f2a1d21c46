// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/tasks/network_memory.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "bayloom/codegen/abi.h"

namespace bayloom::graph {
namespace {

bool LiveTogether(const MemoryRequest& a, const MemoryRequest& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
}

struct Placed {
  int64_t begin, end;
};

/// The offset of the tightest gap among `taken` (sorted by begin) that holds `bytes`, or the end.
int64_t TightestGap(const std::vector<Placed>& taken, int64_t bytes) {
  int64_t best_offset = -1, best_gap = std::numeric_limits<int64_t>::max(), end = 0;
  for (const Placed& p : taken) {
    const int64_t gap = p.begin - end;
    if (gap >= bytes && gap < best_gap) {
      best_gap = gap;
      best_offset = end;
    }
    end = std::max(end, p.end);
  }
  return best_offset >= 0 ? best_offset : end;
}

}  // namespace

ArenaPlan PlanMemory(const std::vector<MemoryRequest>& requests) {
  ArenaPlan plan;
  plan.offsets.assign(requests.size(), 0);
  std::vector<int> order(requests.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return requests[a].bytes > requests[b].bytes; });
  std::vector<int> done;
  for (int id : order) {
    std::vector<Placed> taken;
    for (int other : done) {
      if (!LiveTogether(requests[id], requests[other])) continue;
      taken.push_back(
          {plan.offsets[other], plan.offsets[other] + target::AlignUp(requests[other].bytes)});
    }
    std::sort(taken.begin(), taken.end(),
              [](const Placed& a, const Placed& b) { return a.begin < b.begin; });
    const int64_t bytes = target::AlignUp(requests[id].bytes);
    plan.offsets[id] = TightestGap(taken, bytes);
    plan.arena_bytes = std::max(plan.arena_bytes, plan.offsets[id] + bytes);
    done.push_back(id);
  }
  return plan;
}

}  // namespace bayloom::graph
