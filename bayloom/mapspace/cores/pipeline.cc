// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/cores/pipeline.h"

#include <algorithm>
#include <array>
#include <limits>

#include "bayloom/mapspace/fused/retention_level.h"

namespace bayloom::mapspace {

// By dynamic programming over where the last run begins.
std::vector<Pipeline::Stage> DivideIntoStages(const std::vector<int64_t>& cycles, int most) {
  const int count = static_cast<int>(cycles.size());
  const int stages = std::min(most, count);
  std::vector<int64_t> before(count + 1, 0);
  for (int k = 0; k < count; ++k) before[k + 1] = before[k] + cycles[k];
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  // [stages][groups]: the largest sum, and where the last stage begins.
  std::vector<std::vector<int64_t>> slowest(stages + 1, std::vector<int64_t>(count + 1, kNone));
  std::vector<std::vector<int>> begin(stages + 1, std::vector<int>(count + 1, 0));
  slowest[0][0] = 0;
  for (int s = 1; s <= stages; ++s) {
    for (int end = s; end <= count; ++end) {
      for (int from = s - 1; from < end; ++from) {
        if (slowest[s - 1][from] == kNone) continue;
        const int64_t sum = std::max(slowest[s - 1][from], before[end] - before[from]);
        if (sum >= slowest[s][end]) continue;
        slowest[s][end] = sum;
        begin[s][end] = from;
      }
    }
  }
  int best = stages;
  for (int s = stages; s >= 1; --s) {
    if (slowest[s][count] <= slowest[best][count]) best = s;  // no more cores than needed
  }
  std::vector<Pipeline::Stage> divided(best);
  for (int s = best, end = count; s >= 1; --s) {
    divided[s - 1] = {begin[s][end], end, before[end] - before[begin[s][end]]};
    end = begin[s][end];
  }
  return divided;
}

Pipeline PipelineOf(const GroupPlan& plan, const Architecture& architecture,
                    const NetworkOnChip& network) {
  Pipeline pipeline;
  std::vector<int64_t> cycles;
  for (const PlannedGroup& planned : plan.groups) cycles.push_back(planned.cost.cycles);
  if (!cycles.empty()) pipeline.stages = DivideIntoStages(cycles, network.CoreCount());
  NetworkTraffic traffic(network);
  int64_t reads = 0, writes = 0;
  for (int core = 0; core < std::ssize(pipeline.stages); ++core) {
    const Pipeline::Stage& stage = pipeline.stages[core];
    pipeline.interval_cycles = std::max(pipeline.interval_cycles, stage.cycles);
    for (int k = stage.begin; k < stage.end; ++k) {
      const GroupCost& cost = plan.groups[k].cost;
      reads += cost.outside_reads;
      writes += cost.outside_writes;
      const std::array<int, 1> own = {core};
      traffic.FromMemory(own, static_cast<double>(cost.outside_reads));
      traffic.ToMemory(core, static_cast<double>(cost.outside_writes));
    }
  }
  const int64_t memory = TransferCycles(reads, writes, architecture.levels.back());
  pipeline.interval_cycles = std::max({pipeline.interval_cycles, memory, traffic.Cycles()});
  pipeline.latency_cycles = plan.cycles;
  pipeline.network_energy_pj = traffic.EnergyPj();
  pipeline.energy_pj = plan.energy_pj + pipeline.network_energy_pj;
  pipeline.network_words = traffic.delivered();
  pipeline.network_word_hops = traffic.word_hops();
  return pipeline;
}

}  // namespace bayloom::mapspace
