// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "bayloom/mapspace/cores/network_on_chip.h"
#include "bayloom/mapspace/fused/group_search.h"

namespace bayloom::mapspace {

/// Groups of a network on the cores of a chip, consecutive groups on one core, so that each core
/// runs its groups for one input while the core before runs its own for the next (as Stream,
/// Symons et al., IEEE TC 2025, allocates layers to cores).
struct Pipeline {
  struct Stage {
    int begin = 0, end = 0;  ///< groups [begin, end)
    int64_t cycles = 0;      ///< of one input
  };

  std::vector<Stage> stages;  ///< of core 0, 1, ...
  /// Between two inputs: the slowest among stages, the memory that all share and the busiest link.
  int64_t interval_cycles = 0;
  /// Of one input through all stages.
  int64_t latency_cycles = 0;
  /// Of one input, the network's included.
  double energy_pj = 0;
  double network_energy_pj = 0;
  double network_words = 0, network_word_hops = 0;
};

/// Divides cycles, one or more, into at most `most` runs of neighbours whose largest sum is least;
/// into no more runs than that takes.
std::vector<Pipeline::Stage> DivideIntoStages(const std::vector<int64_t>& cycles, int most);

/// The division of a plan's groups into stages whose slowest is fastest. Words that groups exchange
/// with the outermost level pass the network; every core has the levels inside for itself.
Pipeline PipelineOf(const GroupPlan& plan, const Architecture& architecture,
                    const NetworkOnChip& network);

}  // namespace bayloom::mapspace
