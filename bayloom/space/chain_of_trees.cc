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
#include <set>

#include "bayloom/space/constraint_solver.h"
#include "bayloom/space/partial_evaluation.h"
#include "bayloom/space/variable_order.h"

namespace bayloom::space {
namespace {

/// Values that constraints may leave of a parameter with more than kMaxValues for it to be
/// enumerated all the same: a solver does without a tree.
constexpr double kMaxNarrowed = 1 << 16;
constexpr int kMaxDraws = 100'000;
/// Draws that show whether loose constraints are satisfied often enough to go on drawing.
constexpr int kTrialDraws = 2'000;
constexpr int kMinHits = 4;

/// Orders race: each may look at so many blocks of values, then each at more, so that a bad guess
/// costs no more than a few times what the best order costs.
struct Round {
  int orders;
  int64_t visits;
};
constexpr Round kRounds[] = {{5, 100'000}, {5, 1'000'000}, {2, 20'000'000}};

/// So many parameters that constraints bind together are mostly a few that many others depend on.
constexpr size_t kMany = 24;
/// Orders for more of them are not estimated, for that takes longer than growing trees.
constexpr size_t kMaxEstimated = 40;

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

/// Constraints split into groups without common parameters.
std::vector<std::vector<int>> Independent(const ExpressionGraph& graph, size_t parameters,
                                          std::span<const int> constraints) {
  Groups groups(parameters);
  for (int constraint : constraints) {
    const std::vector<int> bound = ParametersOf(graph, constraint);
    for (int p : bound) groups.Connect(p, bound[0]);
  }
  std::map<int, std::vector<int>> of_leader;
  for (int constraint : constraints) {
    of_leader[groups.Leader(ParametersOf(graph, constraint)[0])].push_back(constraint);
  }
  std::vector<std::vector<int>> independent;
  for (auto& [leader, group] : of_leader) independent.push_back(std::move(group));
  return independent;
}

std::string Quoted(const ExpressionGraph::Parameters& parameters, std::span<const int> indices) {
  std::vector<std::string> names;
  for (int i : indices) names.push_back(fmt::format("'{}'", parameters[i]->name()));
  return fmt::format("{}", fmt::join(names, ", "));
}

Error LeavesNoValue(const Parameter& parameter) {
  return {fmt::format("the constraints on '{}' leave no value", parameter.name())};
}

std::optional<Tree> GrowInBestOrder(const ExpressionGraph& graph,
                                    const ExpressionGraph::Parameters& parameters,
                                    std::span<const int> constraints,
                                    std::span<const Domain> domains,
                                    std::span<const Round> rounds) {
  if (domains.size() > PartialEvaluation::kMaxLevels) return std::nullopt;
  std::vector<std::vector<int>> orders;
  if (domains.size() > kMany) orders.push_back(SeparatingOrder(graph, constraints, domains));
  if (domains.size() <= kMaxEstimated) {
    const int most = kRounds[0].orders - 1 - static_cast<int>(orders.size());
    for (std::vector<int>& order : PromisingOrders(graph, constraints, domains, most)) {
      orders.push_back(std::move(order));
    }
  } else {
    std::vector<int>& given = orders.emplace_back(domains.size());
    std::iota(given.begin(), given.end(), 0);
  }
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
  std::vector<int> binding;
  for (int constraint : constraints) {
    if (!ParametersOf(graph, constraint).empty()) {
      binding.push_back(constraint);
    } else if (!Constraint(graph, parameters, constraint).Holds({})) {
      return Error{"a constraint is false for all values"};
    }
  }
  const Status narrowed = chain.NarrowLarge(binding);
  if (!narrowed) return narrowed.error();
  std::vector<int> enumerable;
  for (int constraint : binding) {
    const std::vector<int> bound = ParametersOf(graph, constraint);
    if (std::all_of(bound.begin(), bound.end(), [&](int p) { return chain.IsEnumerable(p); })) {
      enumerable.push_back(constraint);
    } else {
      chain.AddLoose(constraint);
    }
  }
  const Status grown = chain.GrowGroups(std::move(enumerable), 0);
  if (!grown) return grown.error();
  chain.FormClusters(binding);
  return chain;
}

bool ChainOfTrees::IsEnumerable(int p) const {
  const int64_t count = parameter(p).Cardinality();
  return (count != kUncountable && count <= kMaxValues) || narrowed_.contains(p);
}

/// What constraints leave of parameters with too many values to enumerate may be few enough: the
/// divisors of 4096, where their product must be that.
Status ChainOfTrees::NarrowLarge(std::span<const int> constraints) {
  for (const std::vector<int>& group : Independent(*graph_, parameters_->size(), constraints)) {
    std::set<int> distinct;
    for (int constraint : group) {
      for (int p : ParametersOf(*graph_, constraint)) distinct.insert(p);
    }
    const std::vector<int> bound(distinct.begin(), distinct.end());
    if (std::all_of(bound.begin(), bound.end(), [&](int p) { return IsEnumerable(p); })) continue;
    const ConstraintSolver solver(*graph_, *parameters_, bound, group);
    if (solver.is_contradictory()) {
      return Error{
          fmt::format("the constraints on {} contradict each other", Quoted(*parameters_, bound))};
    }
    for (int member = 0; member < std::ssize(bound); ++member) {
      const int p = bound[member];
      if (IsEnumerable(p) || parameter(p).Cardinality() == kUncountable) continue;
      std::optional<std::vector<double>> left = solver.CoordinatesLeft(member, kMaxNarrowed);
      if (!left) continue;
      if (left->empty()) return LeavesNoValue(parameter(p));
      narrowed_.emplace(p, *std::move(left));
    }
  }
  return Ok();
}

/// Splits constraints into groups without common parameters, and grows a tree for each.
Status ChainOfTrees::GrowGroups(std::vector<int> constraints, int retries) {
  for (std::vector<int>& group : Independent(*graph_, parameters_->size(), constraints)) {
    const Status grown = GrowGroup(std::move(group), retries);
    if (!grown) return grown;
  }
  return Ok();
}

Status ChainOfTrees::GrowGroup(std::vector<int> constraints, int retries) {
  std::vector<int> entangled = constraints;
  Result<std::vector<Domain>> domains = Narrow(entangled);
  if (!domains) return domains.error();
  // What is left of a group that was too much already gets no long try again, nor does what can be
  // solved instead.
  const bool is_narrowed = std::any_of(domains->begin(), domains->end(), [&](const Domain& domain) {
    return narrowed_.contains(domain.parameter);
  });
  const auto rounds = std::span(kRounds).first(is_narrowed    ? 1
                                               : retries == 0 ? std::size(kRounds)
                                                              : 2);
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
    const auto add = [&](double rank) {
      coordinates[p] = rank;
      const bool holds = std::all_of(programs.begin(), programs.end(),
                                     [&](const Constraint& c) { return c.Holds(coordinates); });
      if (holds) domain.ranks.push_back(rank);
    };
    if (const auto narrowed = narrowed_.find(p); narrowed != narrowed_.end()) {
      for (double rank : narrowed->second) add(rank);
    } else {
      for (double rank = 0; rank < static_cast<double>(parameter(p).Cardinality()); ++rank) {
        add(rank);
      }
    }
    if (domain.ranks.empty()) {
      return LeavesNoValue(parameter(p));
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

void ChainOfTrees::FormClusters(std::span<const int> constraints) {
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
  for (auto& [leader, cluster] : of_leader) {
    AddSolver(cluster, constraints);
    clusters_.push_back(std::move(cluster));
  }
}

/// To clusters with a parameter of more values than can be enumerated, and to those whose
/// constraints draws hardly ever satisfy.
void ChainOfTrees::AddSolver(Cluster& cluster, std::span<const int> constraints) {
  std::vector<int> members = cluster.parameters;
  for (int t : cluster.trees) {
    for (int l = 0; l < trees_[t].levels(); ++l) members.push_back(trees_[t].parameter(l));
  }
  std::sort(members.begin(), members.end());
  for (int p : members) place_[p].cluster = static_cast<int>(clusters_.size());
  if (!cluster.loose.empty()) {
    base::RandomStream random(0);
    std::vector<double> coordinates(parameters_->size());
    int hits = 0;
    for (int draw = 0; draw < kTrialDraws && hits < kMinHits; ++draw) {
      hits += DrawCluster(cluster, random, SamplingMethod::kUniformLeaves, coordinates);
    }
    cluster.is_sparse = hits < kMinHits;
  }
  const bool is_narrowed =
      std::any_of(members.begin(), members.end(), [&](int p) { return narrowed_.contains(p); });
  if (!cluster.is_sparse && !is_narrowed) return;
  std::vector<int> own;
  for (int constraint : constraints) {
    const int first = ParametersOf(*graph_, constraint)[0];
    if (std::binary_search(members.begin(), members.end(), first)) own.push_back(constraint);
  }
  cluster.solver =
      std::make_shared<const ConstraintSolver>(*graph_, *parameters_, std::move(members), own);
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

double ChainOfTrees::Log10CountFeasible() const {
  if (!loose_.empty()) return std::numeric_limits<double>::infinity();
  double log = 0;
  for (const Tree& tree : trees_) log += tree.Log10Leaves();
  for (size_t p = 0; p < place_.size(); ++p) {
    if (place_[p].tree >= 0) continue;
    const int64_t values = parameter(static_cast<int>(p)).Cardinality();
    if (values == kUncountable) return std::numeric_limits<double>::infinity();
    log += std::log10(static_cast<double>(values));
  }
  return log;
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

bool ChainOfTrees::DrawCluster(const Cluster& cluster, base::RandomStream& random,
                               SamplingMethod method, std::span<double> coordinates) const {
  for (int t : cluster.trees) trees_[t].Sample(random, method, coordinates);
  for (int p : cluster.parameters) {
    coordinates[p] = method == SamplingMethod::kPrior ? parameter(p).SamplePrior(random)
                                                      : parameter(p).Sample(random);
  }
  return std::all_of(cluster.loose.begin(), cluster.loose.end(),
                     [&](int c) { return loose_[c].Holds(coordinates); });
}

bool ChainOfTrees::Sample(base::RandomStream& random, SamplingMethod method,
                          std::span<double> coordinates) const {
  for (const Cluster& cluster : clusters_) {
    bool found = cluster.is_sparse && cluster.solver->Sample(random, method, coordinates);
    const int draws = cluster.is_sparse ? kTrialDraws : kMaxDraws;
    for (int draw = 0; draw < draws && !found; ++draw) {
      found = DrawCluster(cluster, random, method, coordinates);
    }
    if (!found) return false;
  }
  return true;
}

std::vector<double> ChainOfTrees::Alternatives(int p, std::span<const double> coordinates,
                                               base::RandomStream& random) const {
  const Cluster& cluster = clusters_[place_[p].cluster];
  if (cluster.is_sparse) {
    return cluster.solver->Alternatives(MemberOf(cluster, p), coordinates, random);
  }
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

std::vector<std::vector<double>> ChainOfTrees::JointAlternatives(
    int p, std::span<const double> coordinates, base::RandomStream& random) const {
  const Cluster& cluster = clusters_[place_[p].cluster];
  if (cluster.solver == nullptr) return {};
  return cluster.solver->JointAlternatives(MemberOf(cluster, p), coordinates, random);
}

int ChainOfTrees::MemberOf(const Cluster& cluster, int p) {
  const std::vector<int>& members = cluster.solver->members();
  return static_cast<int>(std::lower_bound(members.begin(), members.end(), p) - members.begin());
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
