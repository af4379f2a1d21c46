// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/plan/cpu/tile_cost.h"

#include <algorithm>
#include <cmath>

namespace bayloom::plan {

TileRates TileRates::Of(const target::MachineModel& machine) {
  constexpr double kMinInFlight = 8;
  const double multiply_add = machine.multiply_add.alone;
  return {std::max(kMinInFlight, std::round(machine.multiply_add_latency / multiply_add)),
          std::max(1.0, std::round(4 * machine.vector_load / multiply_add)) / 4};
}

std::vector<TileCost::Load> TileCost::LoadsOf(const std::vector<TileDigit>& digits) const {
  std::vector<Load> loads;
  loads.reserve(accesses_.loads.size());
  for (const auto& [node, access] : accesses_.loads) {
    const auto work = work_.values.find(node);
    Load& load = loads.emplace_back();
    if (work != work_.values.end()) load.work = work->second;
    for (size_t i = 0; i < digits.size(); ++i) {
      load.varies |= uint64_t{access.affine.CoefficientOf(digits[i].digit) != 0} << i;
    }
  }
  return loads;
}

/// A load whose value several accumulators use must stay in a register while the digits run over
/// which it is reused: it takes as many registers as it has values below the outermost such digit.
TileCost::Demand TileCost::DemandOf(const std::vector<Load>& loads,
                                    const std::vector<int64_t>& steps) const {
  Demand demand;
  for (int64_t s : steps) demand.accumulators *= s;
  demand.live = work_.registers * demand.accumulators;
  demand.operations = work_.combine * static_cast<double>(demand.accumulators);
  for (const Load& load : loads) {
    int64_t values = 1, kept = 1;
    bool reused = false;
    for (size_t i = 0; i < steps.size(); ++i) {
      if ((load.varies >> i & 1) != 0) {
        values *= steps[i];
        if (reused) kept *= steps[i];
      } else {
        reused = reused || steps[i] > 1;
      }
    }
    demand.loaded += load.work.loads * static_cast<double>(values);
    demand.operations += load.work.operations * static_cast<double>(values);
    demand.live += load.work.registers * kept + load.work.sums * values;
  }
  return demand;
}

std::optional<double> TileCost::Of(const std::vector<TileDigit>& digits,
                                   const std::vector<int64_t>& steps) const {
  return TimeOf(LoadsOf(digits), steps);
}

std::optional<double> TileCost::TimeOf(const std::vector<Load>& loads,
                                       const std::vector<int64_t>& steps) const {
  const Demand demand = DemandOf(loads, steps);
  if (demand.live > registers_) return std::nullopt;
  constexpr double kLoadWeight = 0.04;  // of two equals, the one with fewer loads
  const double time = std::max({demand.operations, rates_.load * demand.loaded, rates_.in_flight});
  return (time + kLoadWeight * demand.loaded) / static_cast<double>(demand.accumulators);
}

bool TileCost::HasSpareRegisters(const std::vector<TileDigit>& digits,
                                 const std::vector<int64_t>& steps) const {
  constexpr int64_t kLoadedTogether = 4;
  return DemandOf(LoadsOf(digits), steps).live + kLoadedTogether - 1 <= registers_;
}

std::vector<int64_t> TileCost::Best(const std::vector<TileDigit>& digits) const {
  constexpr double kClearly = 0.97;
  const std::vector<Load> loads = LoadsOf(digits);
  std::vector<int64_t> best;
  for (const TileDigit& digit : digits) best.push_back(digit.optional ? 1 : digit.steps);
  const std::optional<double> as_scheduled = TimeOf(loads, best);
  double bound = 0;
  if (as_scheduled) {
    bound = kClearly * *as_scheduled;
  } else {
    best.clear();
  }
  std::vector<int64_t> steps(digits.size(), 1);
  const auto search = [&](const auto& self, size_t i, int64_t product) -> void {
    if (i == digits.size()) {
      const auto cost = TimeOf(loads, steps);
      if (cost && (best.empty() || *cost < bound)) {
        best = steps;
        bound = *cost;
      }
      return;
    }
    const TileDigit& digit = digits[i];
    for (int64_t s = 1; s <= digit.steps && s * product <= registers_; ++s) {
      const bool whole = s == digit.steps || (digit.optional && s == 1);
      if (digit.steps % s != 0 || (!digit.divisible && !whole)) continue;
      steps[i] = s;
      self(self, i + 1, product * s);
    }
    steps[i] = 1;
  };
  search(search, 0, 1);
  return best;
}

}  // namespace bayloom::plan
