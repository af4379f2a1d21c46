// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/chain_of_trees.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "bayloom/space/internal/partial_evaluation.h"
#include "bayloom/space/internal/variable_order.h"

namespace bayloom::space {
namespace {

/// Parameters with more values are not enumerated.
constexpr int64_t kMostValues = int64_t{1} << 20;
constexpr int kMostDraws = 100'000;

/// Orders race: each may look at so many blocks of values, then each at more, so that a bad guess
/// costs no more than a few times what the best order costs.
struct Round {
  int orders;
  int64_t visits;
};
constexpr Round kRounds[] = {{5, 100'000}, {5, 1'000'000}, {2, 20'000'000}};

/// Sets of items that have been connected.
class Groups {
 public:
  explicit Groups(size_t count) : leader_(count) { std::iota(leader_.begin(), leader_.end(), 0); }
  int Leader(int item) {
    while (leader_[item] != item) item = leader_[item] = leader_[leader_[item]];
    return item;
  }
  void Connect(int a, int b) { leader_[Leader(a)] = Leader(b); }

 private:
  std::vector<int> leader_;
};

std::string Quoted(const ExpressionGraph::Parameters& parameters, std::span<const int> indices) {
  std::vector<std::string> names;
  for (int i : indices) names.push_back(fmt::format("'{}'", parameters[i]->name()));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::optional<Tree> GrowInBestOrder(const ExpressionGraph& graph,
                                    const ExpressionGraph::Parameters& parameters,
                                    std::span<const int> constraints,
                                    std::span<const Domain> domains,
                                    std::span<const Round> rounds) {
  if (domains.size() > PartialEvaluation::kMostLevels) return std::nullopt;
  const auto orders = PromisingOrders(graph, constraints, domains, kRounds[0].orders - 1);
  for (const Round& round : rounds) {
    for (size_t i = 0; i < std::min<size_t>(orders.size(), round.orders); ++i) {
      std::vector<Domain> levels;
      for (int position : orders[i]) levels.push_back(domains[position]);
      std::optional<Tree> tree =
          Tree::Grow(graph, parameters, constraints, std::move(levels), round.visits);
      if (tree) return tree;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<ChainOfTrees> ChainOfTrees::Grow(const ExpressionGraph& graph,
                                        const ExpressionGraph::Parameters& parameters,
                                        std::span<const int> constraints) {
  ChainOfTrees chain(graph, parameters);
  std::vector<int> enumerable;
  for (int constraint : constraints) {
    const std::vector<int> bound = ParametersOf(graph, constraint);
    if (bound.empty()) {
      if (Constraint(graph, parameters, constraint).Holds({})) continue;
      return Error{"a constraint is false whatever the values"};
    }
    const bool countable = std::all_of(bound.begin(), bound.end(), [&](int p) {
      const int64_t count = parameters[p]->Cardinality();
      return count != kUncountable && count <= kMostValues;
    });
    if (countable) {
      enumerable.push_back(constraint);
    } else {
      chain.AddLoose(constraint);
    }
  }
  const Status grown = chain.GrowGroups(std::move(enumerable), 0);
  if (!grown) return grown.error();
  chain.FormClusters();
  return chain;
}

/// Splits constraints into groups without common parameters, and grows a tree for each.
Status ChainOfTrees::GrowGroups(std::vector<int> constraints, int retries) {
  Groups groups(parameters_->size());
  for (int constraint : constraints) {
    const std::vector<int> bound = ParametersOf(*graph_, constraint);
    for (int p : bound) groups.Connect(p, bound[0]);
  }
  std::map<int, std::vector<int>> of_leader;
  for (int constraint : constraints) {
    of_leader[groups.Leader(ParametersOf(*graph_, constraint)[0])].push_back(constraint);
  }
  for (auto& [leader, group] : of_leader) {
    const Status grown = GrowGroup(std::move(group), retries);
    if (!grown) return grown;
  }
  return Ok();
}

Status ChainOfTrees::GrowGroup(std::vector<int> constraints, int retries) {
  std::vector<int> entangled = constraints;
  Result<std::vector<Domain>> domains = Narrow(entangled);
  if (!domains) return domains.error();
  // What is left of a group that was too much already gets no long try again.
  const auto rounds = std::span(kRounds).first(retries == 0 ? std::size(kRounds) : 2);
  std::optional<Tree> tree = GrowInBestOrder(*graph_, *parameters_, entangled, *domains, rounds);
  if (tree) {
    std::vector<int> bound;
    for (const Domain& domain : *domains) bound.push_back(domain.parameter);
    if (tree->leaves() == 0) {
      return Error{
          fmt::format("the constraints on {} contradict each other", Quoted(*parameters_, bound))};
    }
    AddTree(std::move(*tree));
    return Ok();
  }
  // Too much to enumerate: go on without the constraints that bind most parameters together, twice
  // as many at every try.
  std::stable_sort(entangled.begin(), entangled.end(), [&](int a, int b) {
    return ParametersOf(*graph_, a).size() > ParametersOf(*graph_, b).size();
  });
  entangled.resize(std::min(entangled.size(), size_t{1} << retries));
  for (int constraint : entangled) {
    AddLoose(constraint);
    std::erase(constraints, constraint);
  }
  return GrowGroups(std::move(constraints), retries + 1);
}

/// The domains of the parameters that constraints are on, without the values that those on a single
/// parameter rule out. These constraints are done with then.
Result<std::vector<Domain>> ChainOfTrees::Narrow(std::vector<int>& constraints) const {
  std::map<int, std::vector<Constraint>> alone;
  std::vector<int> others;
  for (int constraint : constraints) {
    Constraint program(*graph_, *parameters_, constraint);
    for (int p : program.parameters()) alone[p];
    if (program.parameters().size() == 1) {
      alone[program.parameters()[0]].push_back(std::move(program));
    } else {
      others.push_back(constraint);
    }
  }
  constraints = std::move(others);
  std::vector<Domain> domains;
  std::vector<double> coordinates(parameters_->size());
  for (const auto& [p, programs] : alone) {
    Domain domain{p, {}};
    for (double rank = 0; rank < static_cast<double>(parameter(p).Cardinality()); ++rank) {
      coordinates[p] = rank;
      const bool holds = std::all_of(programs.begin(), programs.end(),
                                     [&](const Constraint& c) { return c.Holds(coordinates); });
      if (holds) domain.ranks.push_back(rank);
    }
    if (domain.ranks.empty()) {
      return Error{fmt::format("the constraints on '{}' leave no value", parameter(p).name())};
    }
    domains.push_back(std::move(domain));
  }
  return domains;
}

void ChainOfTrees::AddTree(Tree tree) {
  for (int level = 0; level < tree.levels(); ++level) {
    place_[tree.parameter(level)] = {static_cast<int>(trees_.size()), level};
  }
  trees_.push_back(std::move(tree));
}

void ChainOfTrees::AddLoose(int constraint) {
  loose_.emplace_back(*graph_, *parameters_, constraint);
}

void ChainOfTrees::FormClusters() {
  const int count = static_cast<int>(parameters_->size());
  Groups groups(parameters_->size());
  for (const Tree& tree : trees_) {
    for (int l = 1; l < tree.levels(); ++l) groups.Connect(tree.parameter(l), tree.parameter(0));
  }
  for (const Constraint& constraint : loose_) {
    for (int p : constraint.parameters()) groups.Connect(p, constraint.parameters()[0]);
  }
  std::map<int, Cluster> of_leader;
  for (int p = 0; p < count; ++p) {
    if (place_[p].tree < 0) of_leader[groups.Leader(p)].parameters.push_back(p);
  }
  for (int t = 0; t < static_cast<int>(trees_.size()); ++t) {
    of_leader[groups.Leader(trees_[t].parameter(0))].trees.push_back(t);
  }
  for (int c = 0; c < static_cast<int>(loose_.size()); ++c) {
    of_leader[groups.Leader(loose_[c].parameters()[0])].loose.push_back(c);
  }
  for (auto& [leader, cluster] : of_leader) clusters_.push_back(std::move(cluster));
}

double ChainOfTrees::CountFeasible() const {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!loose_.empty()) return kInfinity;
  double count = 1;
  for (const Tree& tree : trees_) count *= tree.leaves();
  for (size_t p = 0; p < place_.size(); ++p) {
    if (place_[p].tree >= 0) continue;
    const int64_t values = parameter(static_cast<int>(p)).Cardinality();
    count *= values == kUncountable ? kInfinity : static_cast<double>(values);
  }
  return count;
}

/// Those loose constraints that are on the parameter, or all if it is -1.
bool ChainOfTrees::HoldsLoosely(std::span<const double> coordinates, int parameter) const {
  return std::all_of(loose_.begin(), loose_.end(), [&](const Constraint& constraint) {
    const std::vector<int>& bound = constraint.parameters();
    const bool concerned =
        parameter < 0 || std::binary_search(bound.begin(), bound.end(), parameter);
    return !concerned || constraint.Holds(coordinates);
  });
}

bool ChainOfTrees::Contains(std::span<const double> coordinates) const {
  for (size_t p = 0; p < place_.size(); ++p) {
    if (place_[p].tree >= 0) continue;
    const double c = coordinates[p];
    const auto count = static_cast<double>(parameter(static_cast<int>(p)).Cardinality());
    const bool inside = count == kUncountable ? parameter(static_cast<int>(p)).CoordinateOf(c).ok()
                                              : c >= 0 && c < count && c == std::floor(c);
    if (!inside) return false;
  }
  return std::all_of(trees_.begin(), trees_.end(),
                     [&](const Tree& tree) { return tree.Contains(coordinates); }) &&
         HoldsLoosely(coordinates, -1);
}

bool ChainOfTrees::Sample(base::RandomStream& random, SamplingMethod method,
                          std::span<double> coordinates) const {
  for (const Cluster& cluster : clusters_) {
    bool found = false;
    for (int draw = 0; draw < kMostDraws && !found; ++draw) {
      for (int t : cluster.trees) trees_[t].Sample(random, method, coordinates);
      for (int p : cluster.parameters) {
        coordinates[p] = method == SamplingMethod::kPrior ? parameter(p).SamplePrior(random)
                                                          : parameter(p).Sample(random);
      }
      found = std::all_of(cluster.loose.begin(), cluster.loose.end(),
                          [&](int c) { return loose_[c].Holds(coordinates); });
    }
    if (!found) return false;
  }
  return true;
}

std::vector<double> ChainOfTrees::Alternatives(int p, std::span<const double> coordinates,
                                               base::RandomStream& random) const {
  std::vector<double> candidates = parameter(p).Neighbours(coordinates[p], random);
  if (place_[p].tree >= 0) {
    candidates = trees_[place_[p].tree].Alternatives(place_[p].level, coordinates, candidates);
  }
  if (loose_.empty()) return candidates;
  std::vector<double> changed(coordinates.begin(), coordinates.end());
  std::erase_if(candidates, [&](double candidate) {
    changed[p] = candidate;
    return !HoldsLoosely(changed, p);
  });
  return candidates;
}

/// Goes through the trees and then the free parameters, from the given one on.
bool ChainOfTrees::VisitFrom(int part, std::span<double> coordinates,
                             const std::function<bool()>& visit) const {
  const int trees = static_cast<int>(trees_.size());
  if (part == trees + static_cast<int>(place_.size())) {
    return !HoldsLoosely(coordinates, -1) || visit();
  }
  const auto go_on = [&] { return VisitFrom(part + 1, coordinates, visit); };
  if (part < trees) return trees_[part].ForEach(coordinates, go_on);
  const int p = part - trees;
  if (place_[p].tree >= 0) return go_on();
  for (double rank = 0; rank < static_cast<double>(parameter(p).Cardinality()); ++rank) {
    coordinates[p] = rank;
    if (!go_on()) return false;
  }
  return true;
}

void ChainOfTrees::ForEach(std::span<double> coordinates,
                           const std::function<bool()>& visit) const {
  VisitFrom(0, coordinates, visit);
}

}  // namespace bayloom::space
