// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/fused/group_search.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "bayloom/mapspace/rounded_rank.h"

namespace bayloom::mapspace {
namespace {

/// Parts that an axis is cut into.
constexpr int64_t kParts[] = {1, 2, 3, 4, 6, 7, 8, 12, 14, 16, 28, 32, 56, 64, 112, 128, 224};
/// Sizes of a tile along its outer axis that are looked at, once they and all weights fit, and
/// along its inner one.
constexpr int kOuterSizes = 3;
constexpr int kInnerSizes = 2;
/// Longer groups are not looked at where so many in a row did not fit.
constexpr int kMaxMisfits = 3;
/// Divisions kept at a cut.
constexpr size_t kMaxFront = 64;

double Combine(double energy, double cycles, MapObjective objective) {
  switch (objective) {
    case MapObjective::kEnergy:
      return energy;
    case MapObjective::kDelay:
      return cycles;
    case MapObjective::kEnergyDelay:
      break;
  }
  return energy * cycles;
}

std::string TextOf(const AccessStep& step) {
  std::string text = fmt::format("[{}|{}|{}", fmt::join(step.shape, ","),
                                 fmt::join(step.inner, ","), fmt::join(step.from, ","));
  for (const AccessStep::Axis& axis : step.axes) {
    text += fmt::format("|{}{}", axis.is_whole ? "*" : "", axis.constant);
    for (const AxisTerm& term : axis.terms) {
      text += fmt::format("+{}x{}", term.coefficient, term.dimension);
    }
  }
  return text + "]";
}

}  // namespace

std::vector<std::vector<TiledAxis>> TiledAxesOf(const FusedNetwork& network, int op) {
  const std::vector<int64_t>& shape = network.tensors[network.operators[op].output].shape;
  const int rank = static_cast<int>(shape.size());
  const auto axis_of = [&](int axis) {
    TiledAxis tiled{.axis = axis, .sizes = {}};
    for (const int64_t parts : kParts) {
      const int64_t size = (shape[axis] + parts - 1) / parts;
      if (tiled.sizes.empty() || size < tiled.sizes.back()) tiled.sizes.push_back(size);
    }
    return tiled;
  };
  std::vector<std::vector<TiledAxis>> pairs;
  if (rank == 1) pairs.push_back({axis_of(0)});
  if (rank >= 2) pairs.push_back({axis_of(rank - 2), axis_of(rank - 1)});
  if (rank >= 3) pairs.push_back({axis_of(rank - 3), axis_of(rank - 2)});
  return pairs;
}

double ValueOf(const GroupPlan& plan, MapObjective objective) {
  return Combine(plan.energy_pj, static_cast<double>(plan.cycles), objective);
}

GroupSearch::GroupSearch(const FusedNetwork& network, const Architecture& architecture,
                         std::vector<GroupCost> layers, TileCoster estimate, TileCoster exact,
                         GroupSearchOptions options)
    : network_(network),
      architecture_(architecture),
      layers_(std::move(layers)),
      estimate_(std::move(estimate)),
      exact_(std::move(exact)),
      options_(std::move(options)) {}

double GroupSearch::ValueOf(const GroupCost& cost) const {
  return Combine(cost.energy_pj, static_cast<double>(cost.cycles), options_.objective);
}

std::string GroupSearch::StructureOf(int begin, int end) const {
  std::map<int, size_t> numbers;
  const auto number = [&](int tensor) {
    return numbers.try_emplace(tensor, numbers.size()).first->second;
  };
  std::string text;
  for (int k = begin; k < end; ++k) {
    const FusedOperator& op = network_.operators[k];
    if (end == begin + 1) text += fmt::format("alone {}:", layers_[k].energy_pj);
    if (op.product) {
      text += op.product->problem.Describe() + fmt::format("/{}", op.product->weights_operand);
    } else {
      text += fmt::format("{}", op.operations_per_word);
    }
    for (const FusedOperand& operand : op.operands) {
      text += fmt::format("({}", number(operand.tensor));
      for (const AccessStep& step : operand.steps) text += TextOf(step);
      text += ")";
    }
    text += fmt::format("->{}[{}]{};", number(op.output),
                        fmt::join(network_.tensors[op.output].shape, ","),
                        IsNeededAfter(network_, op.output, end) ? "!" : "");
  }
  return text;
}

const GroupSearch::Candidate* GroupSearch::Keep(FusedGroup group, Candidates& candidates) const {
  // The last result's tile alone may be too large.
  const std::vector<int64_t>& shape =
      network_.tensors[network_.operators[group.end - 1].output].shape;
  int64_t words = 1;
  for (int x = 0; x < std::ssize(shape); ++x) {
    const auto cut = std::ranges::find(group.tiling.axes, x, &DepthFirstTiling::Axis::axis);
    words *= cut == group.tiling.axes.end() ? shape[x] : cut->size;
  }
  if (words > architecture_.levels[group.home->level].words) return nullptr;
  const Result<GroupCost> cost = CostOfFusedGroup(network_, architecture_, group, estimate_);
  if (!cost) return nullptr;
  return &candidates.emplace_back(Candidate{.group = std::move(group), .cost = *cost});
}

bool GroupSearch::KeepsWeightsItCan(const Candidate& candidate) const {
  const FusedGroup& group = candidate.group;
  if (!group.home->keeps_weights || candidate.cost.tiles == 1) return true;
  bool keeps_all = true;
  int64_t all = 0;
  for (int k = group.begin; k < group.end; ++k) {
    const int64_t words = network_.WeightWords(k);
    all += words;
    keeps_all &= words == 0 || candidate.cost.has_resident_weights[k - group.begin];
  }
  return keeps_all || all > architecture_.levels[group.home->level].words;
}

void GroupSearch::AddTilings(const FusedGroup& group, const std::vector<TiledAxis>& axes,
                             Candidates& candidates) const {
  constexpr std::array<std::pair<bool, bool>, 3> kCached = {
      {{true, true}, {false, true}, {false, false}}};
  const TiledAxis& outer = axes.front();
  const TiledAxis& inner = axes.back();
  for (const auto& [outer_cached, inner_cached] : kCached) {
    int inner_sizes = 0;
    for (const int64_t inner_size : inner.sizes) {
      if (inner_cached != outer_cached && inner_size == inner.sizes.front()) continue;
      int outer_sizes = 0;
      for (const int64_t outer_size : outer.sizes) {
        const bool is_whole =
            inner_size == inner.sizes.front() && outer_size == outer.sizes.front();
        if (is_whole && !inner_cached) continue;  // nothing is computed again anyway
        FusedGroup tiled = group;
        tiled.tiling.axes.push_back({outer.axis, outer_size, outer_cached});
        if (axes.size() > 1) tiled.tiling.axes.push_back({inner.axis, inner_size, inner_cached});
        const Candidate* kept = Keep(std::move(tiled), candidates);
        if (kept == nullptr || !KeepsWeightsItCan(*kept)) continue;
        if (++outer_sizes == kOuterSizes) break;
      }
      if (outer_sizes > 0 && ++inner_sizes == kInnerSizes) break;
    }
  }
}

GroupSearch::Candidates GroupSearch::Estimate(int begin, int end) const {
  Candidates candidates;
  if (end == begin + 1) {
    candidates.push_back({.group = {.begin = begin, .end = end, .home = {}, .tiling = {}},
                          .cost = layers_[begin],
                          .is_known = true});
    return candidates;
  }
  for (const RetentionLevel home : RetentionLevelsOf(architecture_, options_.constraints)) {
    for (const std::vector<TiledAxis>& axes : TiledAxesOf(network_, end - 1)) {
      AddTilings({.begin = begin, .end = end, .home = home, .tiling = {}}, axes, candidates);
    }
  }
  if (candidates.empty() && options_.shared) AddShared(begin, end, candidates);
  std::ranges::stable_sort(candidates, {},
                           [&](const Candidate& candidate) { return ValueOf(candidate.cost); });
  if (std::ssize(candidates) > options_.max_candidates) {
    candidates.resize(static_cast<size_t>(options_.max_candidates));
  }
  return candidates;
}

void GroupSearch::AddShared(int begin, int end, Candidates& candidates) const {
  for (const RetentionLevel home : RetentionLevelsOf(architecture_, options_.constraints)) {
    const FusedGroup group = {.begin = begin, .end = end, .home = home, .tiling = {}};
    const std::optional<GroupCost> cost = options_.shared(group, /*is_exact=*/false);
    if (cost) candidates.push_back({.group = group, .cost = *cost, .is_shared = true});
  }
}

void GroupSearch::Enumerate() {
  const int count = network_.OperatorCount();
  groups_.resize(static_cast<size_t>(count));
  for (int begin = 0; begin < count; ++begin) {
    int misfits = 0;
    for (int end = begin + 1; end <= std::min(count, begin + options_.max_operators); ++end) {
      if (end > begin + 1 && options_.stop()) break;
      std::shared_ptr<Candidates>& shared = by_structure_[StructureOf(begin, end)];
      if (!shared) shared = std::make_shared<Candidates>(Estimate(begin, end));
      groups_[begin].push_back(shared);
      ++progress_.groups;
      misfits = shared->empty() ? misfits + 1 : 0;
      if (misfits == kMaxMisfits) break;
    }
  }
}

/// The least value, or all divisions that no other one beats in energy and cycles.
void GroupSearch::Prune(std::vector<Partial>& divisions) const {
  if (divisions.empty()) return;
  if (options_.objective != MapObjective::kEnergyDelay) {
    // Of equal energies the fastest, and the other way round.
    const auto value = [&](const Partial& division) {
      const double first = Combine(division.energy, division.cycles, options_.objective);
      const double second =
          Combine(division.energy, division.cycles, TieBreakOf(options_.objective));
      return std::pair(RoundedRank(first), second);
    };
    divisions = {*std::ranges::min_element(divisions, {}, value)};
    return;
  }
  std::ranges::stable_sort(divisions, [](const Partial& a, const Partial& b) {
    return std::pair(a.energy, a.cycles) < std::pair(b.energy, b.cycles);
  });
  std::vector<Partial> front;
  for (const Partial& division : divisions) {
    if (front.empty() || division.cycles < front.back().cycles) front.push_back(division);
  }
  divisions.clear();
  const size_t kept = std::min(front.size(), kMaxFront);
  for (size_t i = 0; i < kept; ++i) {
    divisions.push_back(front[kept == 1 ? 0 : i * (front.size() - 1) / (kept - 1)]);
  }
}

std::vector<GroupSearch::Choice> GroupSearch::BestDivision(bool known_only) const {
  const int count = network_.OperatorCount();
  std::vector<std::vector<Partial>> at(static_cast<size_t>(count) + 1);
  at[0] = {Partial{}};
  for (int end = 1; end <= count; ++end) {
    std::vector<Partial>& here = at[end];
    for (int begin = std::max(0, end - options_.max_operators); begin < end; ++begin) {
      const size_t length = static_cast<size_t>(end - begin);
      if (length > groups_[begin].size()) continue;
      for (Candidate& candidate : *groups_[begin][length - 1]) {
        if (known_only && !candidate.is_known) continue;
        const double energy = candidate.cost.energy_pj * (candidate.is_known ? 1 : energy_ratio_);
        const double cycles =
            static_cast<double>(candidate.cost.cycles) * (candidate.is_known ? 1 : cycle_ratio_);
        for (int before = 0; before < std::ssize(at[begin]); ++before) {
          const Partial& prefix = at[begin][before];
          here.push_back({.energy = prefix.energy + energy,
                          .cycles = prefix.cycles + cycles,
                          .last = {.begin = begin, .end = end, .candidate = &candidate},
                          .before = before});
        }
      }
    }
    Prune(here);
  }
  const auto value = [&](const Partial& division) {
    return Combine(division.energy, division.cycles, options_.objective);
  };
  std::vector<Choice> choices;
  const Partial* division = &*std::ranges::min_element(at[count], {}, value);
  while (division->last.candidate != nullptr) {
    choices.push_back(division->last);
    division = &at[division->last.begin][division->before];
  }
  std::ranges::reverse(choices);
  return choices;
}

GroupPlan GroupSearch::PlanOf(const std::vector<Choice>& choices) const {
  GroupPlan plan;
  for (const Choice& choice : choices) {
    PlannedGroup planned{.group = choice.candidate->group,
                         .cost = choice.candidate->cost,
                         .is_shared = choice.candidate->is_shared};
    planned.group.begin = choice.begin;
    planned.group.end = choice.end;
    plan.energy_pj += planned.cost.energy_pj;
    plan.cycles += planned.cost.cycles;
    plan.outside_words += planned.cost.OutsideWords();
    plan.groups.push_back(std::move(planned));
  }
  return plan;
}

std::optional<GroupCost> GroupSearch::ExactCostOf(const Candidate& candidate) const {
  if (candidate.is_shared) return options_.shared(candidate.group, /*is_exact=*/true);
  Result<GroupCost> cost = CostOfFusedGroup(network_, architecture_, candidate.group, exact_);
  if (!cost) return std::nullopt;
  return *std::move(cost);
}

bool GroupSearch::MakeKnown(const Choice& choice) {
  Candidate& candidate = *choice.candidate;
  const std::optional<GroupCost> cost = ExactCostOf(candidate);
  if (!cost && options_.stop()) return false;
  candidate.is_known = true;
  ++progress_.mapped;
  if (!cost) {
    // Nothing fits: no division has it.
    candidate.cost.energy_pj = std::numeric_limits<double>::infinity();
    candidate.cost.cycles = std::numeric_limits<int64_t>::max();
    return true;
  }
  const double seen = static_cast<double>(++compared_);
  energy_ratio_ += (cost->energy_pj / candidate.cost.energy_pj - energy_ratio_) / seen;
  cycle_ratio_ += (static_cast<double>(cost->cycles) /
                       static_cast<double>(std::max<int64_t>(1, candidate.cost.cycles)) -
                   cycle_ratio_) /
                  seen;
  candidate.cost = *cost;
  return true;
}

bool GroupSearch::Run(const std::function<void(const Progress&)>& on_progress) {
  Enumerate();
  progress_.best = PlanOf(BestDivision(/*known_only=*/true));
  while (!options_.stop()) {
    ++progress_.rounds;
    const std::vector<Choice> choices = BestDivision(/*known_only=*/false);
    bool is_known = true;
    for (const Choice& choice : choices) {
      if (choice.candidate->is_known) continue;
      is_known = false;
      if (!MakeKnown(choice)) return false;
      progress_.best = PlanOf(BestDivision(/*known_only=*/true));
      if (on_progress) on_progress(progress_);
    }
    if (is_known) return true;
  }
  return false;
}

}  // namespace bayloom::mapspace
