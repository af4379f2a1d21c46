// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/accelerator/design_objective.h"
#include "bayloom/accelerator/network_layers.h"
#include "bayloom/mapspace/architecture.h"
#include "bayloom/mapspace/technology.h"
#include "bayloom/trial/outcome.h"

namespace bayloom::accelerator {

/// A network that designs are to run.
struct DesignNetwork {
  std::string name;
  std::vector<NetworkLayer> layers;
};

/// What a design may cost. Energy and cycles are those of running each network once.
struct DesignLimits {
  double area_mm2 = std::numeric_limits<double>::infinity();
  double energy_pj = std::numeric_limits<double>::infinity();
  double cycles = std::numeric_limits<double>::infinity();
};

/// "area=2mm2", "energy=5mJ", "cycles=1e8". Units: mm2, um2; J, mJ, uJ, nJ, pJ. Throws InputError
/// showing a text that works.
void AddDesignLimit(const std::string& text, DesignLimits& limits);

struct DesignEvaluatorOptions {
  /// The first is an outcome's value, the others are named values of it.
  std::vector<DesignObjective> objectives = {DesignObjective::kEnergyDelay};
  DesignLimits limits;
  /// Mappings evaluated of every distinct layer, on average.
  int64_t evaluations = 300;
  uint64_t seed = 0;  ///< of the first design; each has another. DesignSearch has its own
};

/// Says what designs cost: area by the technology's table, energy and cycles by the best mappings
/// found of all distinct layers of the networks, in the manner of `bayloom map`.
///
/// The search for mappings begins with those of earlier designs that have the same levels, adapted
/// (AdaptMapping). So the value of a design depends a little on those before it.
///
/// Several threads may evaluate designs at a time.
class DesignEvaluator {
 public:
  /// Throws InputError if a network has no layers.
  DesignEvaluator(std::vector<DesignNetwork> networks, mapspace::Technology technology,
                  DesignEvaluatorOptions options);

  /// The value is that of the first objective: energy in pJ, cycles, or their product, of several
  /// networks the geometric mean, so that each counts equally; or the area in mm2. Named values:
  /// further objectives by their names, "area_mm2", "energy_pj", "cycles" (of all networks) and
  /// "evaluation_seconds". Infeasible are designs that exceed a limit and those on which a layer
  /// has no mapping. Nullopt if `stop` became true before the end.
  std::optional<trial::Outcome> Evaluate(const mapspace::Architecture& architecture,
                                         const std::function<bool()>& stop);

  const mapspace::Technology& technology() const { return technology_; }
  const DesignEvaluatorOptions& options() const { return options_; }
  const std::vector<DesignNetwork>& networks() const { return networks_; }
  /// Layers that differ, of all networks together.
  const std::vector<NetworkLayer>& layers() const { return layers_; }

 private:
  /// A design whose mappings others may begin with.
  struct Donor {
    mapspace::Architecture architecture;
    double value;                             ///< of what mappings are searched for
    std::vector<mapspace::Mapping> mappings;  ///< one a layer
  };

  /// Those to begin with on this architecture, the best one first.
  std::vector<Donor> DonorsFor(const mapspace::Architecture& architecture) const;
  void Keep(Donor donor);
  /// A seed that no other design has.
  uint64_t NextSeed();

  std::vector<DesignNetwork> networks_;
  std::vector<NetworkLayer> layers_;
  std::vector<std::vector<int>> counts_;  ///< of a network, of a layer
  mapspace::Technology technology_;
  DesignEvaluatorOptions options_;
  mutable std::mutex mutex_;   ///< guards what follows
  std::vector<Donor> donors_;  ///< ascending in their value
  size_t mapped_ = 0;          ///< designs whose mappings were searched
};

}  // namespace bayloom::accelerator
