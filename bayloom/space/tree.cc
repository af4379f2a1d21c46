// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/tree.h"

#include <algorithm>
#include <cmath>

namespace bayloom::space {

const Tree::Run* Tree::RunAt(uint32_t node, int64_t position) const {
  const std::span<const Run> runs = RunsOf(node);
  const auto above = std::upper_bound(runs.begin(), runs.end(), position,
                                      [](int64_t p, const Run& run) { return p < run.first; });
  if (above == runs.begin()) return nullptr;
  const Run& run = *std::prev(above);
  return position < int64_t{run.first} + run.count ? &run : nullptr;
}

/// Whether the coordinates go on from a node of this level to a leaf.
bool Tree::Reaches(uint32_t node, int level, std::span<const double> coordinates) const {
  for (; level < levels(); ++level) {
    const Domain& domain = levels_[level];
    const Run* run = RunAt(node, domain.PositionOf(coordinates[domain.parameter]));
    if (run == nullptr) return false;
    node = run->child;
  }
  return true;
}

bool Tree::Contains(std::span<const double> coordinates) const {
  return Reaches(root_, 0, coordinates);
}

double Tree::WeightOf(const Weights& weights, int level, const Run& run, int exponent) const {
  double own = run.count;
  if (!weights.priors.empty()) {
    const std::vector<double>& sums = weights.priors[level];
    own = sums[run.first + run.count] - sums[run.first];
  }
  return std::ldexp(own * weights.total[run.child], weights.exponent[run.child] - exponent);
}

/// Children come before their parents.
Tree::Weights Tree::ComputeWeights(std::vector<std::vector<double>> priors) const {
  constexpr int kLarge = 600;  // of an exponent: so that sums of a level's runs are finite, too
  Weights weights{std::vector<double>(nodes()), std::vector<int>(nodes()),
                  std::vector<double>(runs_.size()), std::move(priors)};
  weights.total[kLeaf] = 1;
  for (uint32_t node = 1; node < nodes(); ++node) {
    const std::span<const Run> runs = RunsOf(node);
    int& exponent = weights.exponent[node];
    for (const Run& run : runs) {
      const double below = weights.total[run.child];
      if (below <= 0) continue;
      const int magnitude = weights.exponent[run.child] + std::ilogb(below);
      exponent = std::max(exponent, magnitude > kLarge ? magnitude : 0);
    }
    double sum = 0;
    for (size_t r = 0; r < runs.size(); ++r) {
      weights.before[first_run_[node] + r] = sum;
      sum += WeightOf(weights, level_of_node_[node], runs[r], exponent);
    }
    weights.total[node] = sum;
  }
  return weights;
}

double Tree::leaves() const { return std::ldexp(leaves_.total[root_], leaves_.exponent[root_]); }

double Tree::Log10Leaves() const {
  return std::log10(leaves_.total[root_]) + leaves_.exponent[root_] * std::log10(2.0);
}

void Tree::WeightByPriors(const ExpressionGraph::Parameters& parameters) {
  const bool any = std::any_of(levels_.begin(), levels_.end(), [&](const Domain& domain) {
    return parameters[domain.parameter]->has_prior();
  });
  if (!any) return;
  std::vector<std::vector<double>> priors;
  for (const Domain& domain : levels_) {
    std::vector<double> sums = {0};
    for (double rank : domain.ranks) {
      sums.push_back(sums.back() + parameters[domain.parameter]->PriorDensity(rank));
    }
    priors.push_back(std::move(sums));
  }
  Weights weights = ComputeWeights(std::move(priors));
  if (weights.total[root_] > 0) prior_ = std::move(weights);
}

/// A child in proportion to what is below it: moves `node` there and gives the position taken.
uint32_t Tree::Draw(base::RandomStream& random, const Weights& weights, int level,
                    uint32_t& node) const {
  const uint32_t first = first_run_[node];
  const uint32_t end = first_run_[node + 1];
  const double point = random.Uniform() * weights.total[node];
  const auto above =
      std::upper_bound(weights.before.begin() + first + 1, weights.before.begin() + end, point);
  const auto r = static_cast<uint32_t>(above - weights.before.begin()) - 1;
  const Run& run = runs_[r];
  node = run.child;
  if (weights.priors.empty())
    return run.first + static_cast<uint32_t>(random.UniformInt(run.count));
  const std::vector<double>& sums = weights.priors[level];
  const auto begin = sums.begin() + run.first;
  const double share = *begin + random.Uniform() * (begin[run.count] - *begin);
  const auto taken = std::upper_bound(begin + 1, begin + run.count, share);
  return static_cast<uint32_t>(taken - sums.begin()) - 1;
}

/// All children alike.
uint32_t Tree::DrawChild(base::RandomStream& random, uint32_t& node) const {
  int64_t children = 0;
  for (const Run& run : RunsOf(node)) children += run.count;
  int64_t chosen = random.UniformInt(children);
  const Run* run = RunsOf(node).data();
  for (; chosen >= run->count; ++run) chosen -= run->count;
  node = run->child;
  return run->first + static_cast<uint32_t>(chosen);
}

void Tree::Sample(base::RandomStream& random, SamplingMethod method,
                  std::span<double> coordinates) const {
  const Weights& weights = method == SamplingMethod::kPrior && prior_ ? *prior_ : leaves_;
  uint32_t node = root_;
  for (int level = 0; level < levels(); ++level) {
    const uint32_t position = method == SamplingMethod::kBiasedPath
                                  ? DrawChild(random, node)
                                  : Draw(random, weights, level, node);
    coordinates[levels_[level].parameter] = levels_[level].ranks[position];
  }
}

std::optional<uint32_t> Tree::NodeAt(int level, std::span<const double> coordinates) const {
  uint32_t node = root_;
  for (int l = 0; l < level; ++l) {
    const Run* run = RunAt(node, levels_[l].PositionOf(coordinates[levels_[l].parameter]));
    if (run == nullptr) return std::nullopt;
    node = run->child;
  }
  return node;
}

std::vector<double> Tree::Alternatives(int level, std::span<const double> coordinates,
                                       std::span<const double> candidates) const {
  const std::optional<uint32_t> node = NodeAt(level, coordinates);
  std::vector<double> alternatives;
  if (!node) return alternatives;
  for (double candidate : candidates) {
    const Run* run = RunAt(*node, levels_[level].PositionOf(candidate));
    if (run != nullptr && Reaches(run->child, level + 1, coordinates)) {
      alternatives.push_back(candidate);
    }
  }
  if (is_ordered_[level]) AddNext(*node, level, coordinates, alternatives);
  return alternatives;
}

/// Adds the nearest feasible values below and above the level's own, unless they are there.
void Tree::AddNext(uint32_t node, int level, std::span<const double> coordinates,
                   std::vector<double>& values) const {
  const std::vector<double>& ranks = levels_[level].ranks;
  const auto own =
      std::lower_bound(ranks.begin(), ranks.end(), coordinates[levels_[level].parameter]) -
      ranks.begin();
  const auto add = [&](int64_t position) {
    const double rank = ranks[static_cast<size_t>(position)];
    if (std::find(values.begin(), values.end(), rank) == values.end()) values.push_back(rank);
  };
  const std::span<const Run> runs = RunsOf(node);
  const auto middle = std::partition_point(runs.begin(), runs.end(), [&](const Run& run) {
    return int64_t{run.first} + run.count - 1 <= own;
  });
  for (auto run = middle; run != runs.end(); ++run) {
    if (!Reaches(run->child, level + 1, coordinates)) continue;
    add(std::max<int64_t>(run->first, own + 1));
    break;
  }
  for (auto run = std::make_reverse_iterator(middle == runs.end() ? middle : middle + 1);
       run != runs.rend(); ++run) {
    if (run->first >= own || !Reaches(run->child, level + 1, coordinates)) continue;
    add(std::min<int64_t>(int64_t{run->first} + run->count - 1, own - 1));
    break;
  }
}

bool Tree::VisitLeaves(uint32_t node, int level, std::span<double> coordinates,
                       const std::function<bool()>& visit) const {
  if (level == levels()) return visit();
  const Domain& domain = levels_[level];
  for (const Run& run : RunsOf(node)) {
    for (uint32_t i = 0; i < run.count; ++i) {
      coordinates[domain.parameter] = domain.ranks[run.first + i];
      if (!VisitLeaves(run.child, level + 1, coordinates, visit)) return false;
    }
  }
  return true;
}

bool Tree::ForEach(std::span<double> coordinates, const std::function<bool()>& visit) const {
  return VisitLeaves(root_, 0, coordinates, visit);
}

}  // namespace bayloom::space
