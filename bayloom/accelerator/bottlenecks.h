// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/accelerator/network_mapping.h"

namespace bayloom::accelerator {

/// A layer with what its mapping costs.
struct CostedLayer {
  const mapspace::Architecture* architecture;
  mapspace::Evaluation evaluation;
  int count = 1;  ///< such layers
};

/// What a memory or the multipliers cost over all layers.
struct PartCost {
  std::string name;
  double energy_pj = 0;
  double cycles = 0;        ///< that it would need by itself
  double bound_cycles = 0;  ///< of the layers where nothing needs more; the multipliers come first
};

/// Of layers that run one after the other: memories, outermost first, then the multipliers.
std::vector<PartCost> CostsByPart(std::span<const CostedLayer> layers);
/// Of the mapped layers of a run.
std::vector<PartCost> CostsByPart(const NetworkMapping& run);

/// What layers cost on an accelerator one part of which is twice as large.
struct Doubling {
  std::string part;           ///< memory; empty: the accelerator as it is
  bool is_bandwidth = false;  ///< which is doubled, else the capacity
  NetworkMapping::Totals totals;
};

/// The accelerator as it is, then with each finite capacity and bandwidth of a memory doubled, the
/// layers mapped again each time, beginning with mappings that are known. Energies of accesses stay
/// what they are. `options` are those of the run that is asked about: its evaluations, and the
/// mapper where it is "exact", else "genetic"; evaluations are the model's. `on_search` is told how
/// many of how many are done. Ends early, with what there is, if the budget says stop.
std::vector<Doubling> DoubleParts(std::span<const NetworkLayer> layers,
                                  const mapspace::Architecture& architecture,
                                  std::span<const mapspace::Directive> constraints,
                                  MapOptions options,
                                  std::span<const std::optional<mapspace::Mapping>> known,
                                  const std::function<void(int done, int all)>& on_search = {});

}  // namespace bayloom::accelerator
