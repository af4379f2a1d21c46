// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/accelerator/design_evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "bayloom/accelerator/network_mapping.h"
#include "bayloom/base/clock.h"
#include "bayloom/base/result.h"
#include "bayloom/mapspace/adapt_mapping.h"
#include "bayloom/mapspace/misfit.h"
#include "bayloom/search/durable_study.h"
#include "bayloom/space/value.h"

namespace bayloom::accelerator {
namespace {

/// Designs whose mappings are kept for others.
constexpr size_t kMaxDonors = 16;

trial::Outcome Infeasible(std::string reason) {
  return trial::Outcome::Infeasible(trial::Verdict::kBuildError, std::move(reason));
}

bool SameLevels(const mapspace::Architecture& a, const mapspace::Architecture& b) {
  return std::ranges::equal(a.levels, b.levels, {}, &mapspace::StorageLevel::name,
                            &mapspace::StorageLevel::name);
}

/// How unlike two architectures with the same levels are: octaves of capacities and instances.
double Distance(const mapspace::Architecture& a, const mapspace::Architecture& b) {
  const auto octaves = [](int64_t x, int64_t y) {
    return x > 0 && y > 0 ? std::abs(std::log2(static_cast<double>(x) / static_cast<double>(y)))
                          : 0.0;
  };
  double distance = octaves(a.arithmetic.instances, b.arithmetic.instances);
  for (int l = 0; l < a.LevelCount(); ++l) {
    distance += octaves(a.levels[l].words, b.levels[l].words) +
                octaves(a.levels[l].instances, b.levels[l].instances);
  }
  return distance;
}

/// What running a network once costs.
struct NetworkCost {
  double energy_pj = 0;
  double cycles = 0;
};

/// Of several networks the geometric mean.
double ValueOf(std::span<const NetworkCost> networks, mapspace::MapObjective objective) {
  double logarithms = 0;
  for (const NetworkCost& network : networks) {
    if (objective != mapspace::MapObjective::kDelay) logarithms += std::log(network.energy_pj);
    if (objective != mapspace::MapObjective::kEnergy) logarithms += std::log(network.cycles);
  }
  return std::exp(logarithms / static_cast<double>(networks.size()));
}

double ValueOf(std::span<const NetworkCost> networks, double area_mm2, DesignObjective objective) {
  if (objective == DesignObjective::kArea) return area_mm2;
  return ValueOf(networks, MappingObjectiveOf({{objective}}));
}

}  // namespace

void AddDesignLimit(const std::string& text, DesignLimits& limits) {
  struct Unit {
    const char* quantity;
    const char* name;
    double factor;
    double DesignLimits::*limit;
  };
  static constexpr Unit kUnits[] = {{"area", "mm2", 1, &DesignLimits::area_mm2},
                                    {"area", "um2", 1e-6, &DesignLimits::area_mm2},
                                    {"energy", "mJ", 1e9, &DesignLimits::energy_pj},
                                    {"energy", "uJ", 1e6, &DesignLimits::energy_pj},
                                    {"energy", "nJ", 1e3, &DesignLimits::energy_pj},
                                    {"energy", "pJ", 1, &DesignLimits::energy_pj},
                                    {"energy", "J", 1e12, &DesignLimits::energy_pj},
                                    {"cycles", "", 1, &DesignLimits::cycles}};
  const size_t equals = text.find('=');
  const std::string quantity = text.substr(0, equals);
  const std::string amount = equals == std::string::npos ? "" : text.substr(equals + 1);
  for (const Unit& unit : kUnits) {
    const std::string_view name = unit.name;
    double number = 0;
    if (quantity != unit.quantity || !amount.ends_with(name)) continue;
    if (!space::ParseNumber(amount.substr(0, amount.size() - name.size()), number)) continue;
    if (!(number > 0)) break;
    limits.*unit.limit = number * unit.factor;
    return;
  }
  throw InputError("'" + text + "' is no limit; examples: area=2mm2, energy=5mJ, cycles=1e8");
}

DesignEvaluator::DesignEvaluator(std::vector<DesignNetwork> networks,
                                 mapspace::Technology technology, DesignEvaluatorOptions options)
    : networks_(std::move(networks)),
      technology_(std::move(technology)),
      options_(std::move(options)) {
  if (networks_.empty()) throw InputError("a design needs a network to run");
  if (options_.objectives.empty()) throw InputError("a design needs an objective");
  for (const DesignNetwork& network : networks_) {
    if (network.layers.empty()) {
      throw InputError("network '" + network.name + "' has no convolution or matrix product");
    }
    for (const NetworkLayer& layer : network.layers) {
      const auto known = std::ranges::find(layers_, layer.problem, &NetworkLayer::problem);
      if (known == layers_.end()) {
        layers_.push_back(layer);
      } else {
        known->count += layer.count;
      }
    }
  }
  for (const DesignNetwork& network : networks_) {
    std::vector<int>& counts = counts_.emplace_back(layers_.size());
    for (const NetworkLayer& layer : network.layers) {
      const auto at = std::ranges::find(layers_, layer.problem, &NetworkLayer::problem);
      counts[at - layers_.begin()] += layer.count;
    }
  }
}

std::vector<DesignEvaluator::Donor> DesignEvaluator::DonorsFor(
    const mapspace::Architecture& architecture) const {
  const std::lock_guard lock(mutex_);
  const Donor* best = nullptr;
  const Donor* nearest = nullptr;
  for (const Donor& donor : donors_) {
    if (!SameLevels(donor.architecture, architecture)) continue;
    if (best == nullptr) best = &donor;
    if (nearest == nullptr || Distance(donor.architecture, architecture) <
                                  Distance(nearest->architecture, architecture)) {
      nearest = &donor;
    }
  }
  if (best == nullptr) return {};
  if (nearest == best) return {*best};
  return {*best, *nearest};
}

void DesignEvaluator::Keep(Donor donor) {
  const std::lock_guard lock(mutex_);
  const auto place = std::ranges::upper_bound(donors_, donor.value, {}, &Donor::value);
  donors_.insert(place, std::move(donor));
  if (donors_.size() > kMaxDonors) donors_.pop_back();
}

uint64_t DesignEvaluator::NextSeed() {
  const std::lock_guard lock(mutex_);
  return search::SeedAfter(options_.seed, mapped_++);
}

std::optional<trial::Outcome> DesignEvaluator::Evaluate(const mapspace::Architecture& architecture,
                                                        const std::function<bool()>& stop) {
  const double begin = base::MonotonicSeconds();
  const double area = mapspace::AreaOf(architecture, technology_);
  if (area > options_.limits.area_mm2) {
    trial::Outcome refused = Infeasible(
        fmt::format("area {:.4g} mm2 exceeds {:.4g} mm2", area, options_.limits.area_mm2));
    refused.Set("area_mm2", area);
    return refused;
  }
  MapOptions options;
  options.search.objectives = {MappingObjectiveOf(options_.objectives)};
  options.search.run.seed = NextSeed();
  options.search.run.budget.trials = options_.evaluations * std::ssize(layers_);
  options.search.run.budget.stop = stop;
  NetworkMapping run(layers_, architecture, {}, std::move(options));
  for (const NetworkMapping::Layer& layer : run.layers()) {
    const std::string reason = mapspace::WhyNoneFits(*layer.mapspace, *layer.model);
    if (!reason.empty()) return Infeasible("layer '" + layer.layer.name + "': " + reason);
  }
  for (const Donor& donor : DonorsFor(architecture)) {
    for (int l = 0; l < std::ssize(layers_); ++l) {
      const NetworkMapping::Layer& layer = run.layers()[l];
      const auto adapted = mapspace::AdaptMapping(donor.mappings[l], layer.layer.problem,
                                                  *layer.mapspace, *layer.model);
      if (adapted) run.Suggest(l, *adapted);
    }
  }
  if (run.Run() == trial::StopReason::kStopped) return std::nullopt;
  Donor donor{.architecture = architecture, .value = 0, .mappings = {}};
  std::vector<mapspace::Evaluation> costs;
  for (const NetworkMapping::Layer& layer : run.layers()) {
    const mapspace::MapperResult& result = layer.search->result();
    if (!result.best) {
      return Infeasible("no mapping of layer '" + layer.layer.name + "' was found that fits");
    }
    costs.push_back(layer.model->Evaluate(*result.best));
    donor.mappings.push_back(*result.best);
  }
  double energy = 0, cycles = 0;
  std::vector<NetworkCost> networks;
  for (const std::vector<int>& counts : counts_) {
    NetworkCost& network = networks.emplace_back();
    for (size_t l = 0; l < costs.size(); ++l) {
      network.energy_pj += counts[l] * costs[l].energy_pj;
      network.cycles += counts[l] * static_cast<double>(costs[l].cycles);
    }
    energy += network.energy_pj;
    cycles += network.cycles;
  }
  donor.value = ValueOf(networks, MappingObjectiveOf(options_.objectives));
  const std::span<const DesignObjective> objectives = options_.objectives;
  trial::Outcome outcome = trial::Outcome::Feasible(ValueOf(networks, area, objectives[0]));
  if (energy > options_.limits.energy_pj) {
    outcome = Infeasible(fmt::format("energy {:.4g} uJ exceeds {:.4g} uJ", energy / 1e6,
                                     options_.limits.energy_pj / 1e6));
  } else if (cycles > options_.limits.cycles) {
    outcome =
        Infeasible(fmt::format("{:.4g} cycles exceed {:.4g}", cycles, options_.limits.cycles));
  }
  if (outcome.ok()) {
    for (const DesignObjective further : objectives.subspan(1)) {
      outcome.Set(std::string(ToString(further)), ValueOf(networks, area, further));
    }
  }
  Keep(std::move(donor));
  outcome.Set("area_mm2", area);
  outcome.Set("energy_pj", energy);
  outcome.Set("cycles", cycles);
  outcome.Set("evaluation_seconds", base::MonotonicSeconds() - begin);
  return outcome;
}

}  // namespace bayloom::accelerator
