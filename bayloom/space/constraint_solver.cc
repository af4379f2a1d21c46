// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/constraint_solver.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bayloom::space {
namespace {

/// Steps that others have to follow are solved for, which takes its time.
constexpr size_t kMaxJointSteps = 4;
/// About as many divisors as large numbers have.
constexpr double kTypicalDivisors = 100;

/// How many numbers a set may hold, roughly.
double SizeOf(const NumberSet& set) {
  if (set.IsPoint()) return 1;
  if (set.list != nullptr) return static_cast<double>(set.list->size());
  if (!set.whole) return NumberSet::kInfinity;
  const double steps = (set.high - set.low) / static_cast<double>(set.modulus) + 1;
  return set.dividend != 0 ? std::min(steps, kTypicalDivisors) : steps;
}

/// A position from 0 to count - 1: half of the time all alike, else those of small rank more
/// likely, as their logarithm is uniform. Solutions of products crowd there.
double DrawPosition(double count, base::RandomStream& random, double& log_density) {
  const double spread = std::log(count + 1);
  double position;
  if (random.Uniform() < 0.5) {
    position = static_cast<double>(random.UniformInt(static_cast<int64_t>(count)));
  } else {
    position = std::floor(std::exp(random.Uniform() * spread)) - 1;
    position = std::clamp(position, 0.0, count - 1);
  }
  log_density = std::log(0.5 / count + 0.5 * std::log1p(1 / (position + 1)) / spread);
  return position;
}

}  // namespace

ConstraintSolver::ConstraintSolver(const ExpressionGraph& graph,
                                   const ExpressionGraph::Parameters& parameters,
                                   std::vector<int> members, std::span<const int> constraints)
    : parameters_(parameters),
      propagation_(graph, parameters, members, constraints),
      left_(propagation_.Domains()) {
  for (int constraint : constraints) constraints_.emplace_back(graph, parameters, constraint);
  is_contradictory_ = !propagation_.Narrow(left_);
}

std::optional<std::vector<double>> ConstraintSolver::CoordinatesLeft(int member,
                                                                     double most) const {
  const Members left(left_[member]);
  if (left.count() > most) return std::nullopt;
  std::vector<double> coordinates;
  for (double i = 0; i < left.count(); ++i) {
    coordinates.push_back(propagation_.CoordinateOf(member, left.At(i)));
  }
  return coordinates;
}

ConstraintSolver::Numbers ConstraintSolver::NumbersOf(std::span<const double> coordinates) const {
  Numbers numbers;
  for (int m = 0; m < std::ssize(members()); ++m) {
    numbers.push_back(NumberSet::Point(propagation_.NumberOf(m, coordinates[members()[m]])));
  }
  return numbers;
}

/// Sets the coordinates of the members, which must have one number each.
bool ConstraintSolver::IsFeasible(const Numbers& numbers, std::span<double> coordinates) const {
  for (int m = 0; m < std::ssize(members()); ++m) {
    coordinates[members()[m]] = propagation_.CoordinateOf(m, numbers[m].low);
  }
  return std::all_of(constraints_.begin(), constraints_.end(),
                     [&](const Constraint& c) { return c.Holds(coordinates); });
}

bool ConstraintSolver::Sample(base::RandomStream& random, SamplingMethod method,
                              std::span<double> coordinates) const {
  if (is_contradictory_) return false;
  const size_t wanted = method == SamplingMethod::kBiasedPath ? 1 : kProposals;
  std::vector<std::vector<double>> found;
  std::vector<double> weights;
  std::vector<double> tried(coordinates.begin(), coordinates.end());
  for (int i = 0; i < kMaxProposals && found.size() < wanted; ++i) {
    // Where most proposals fail, the few that do not are enough.
    if (!found.empty() && i >= 4 * kProposals) break;
    std::optional<Proposal> proposal = Propose(random);
    if (!proposal || !IsFeasible(proposal->numbers, tried)) continue;
    double log_weight = proposal->log_weight;
    if (method == SamplingMethod::kPrior) {
      for (int m = 0; m < std::ssize(members()); ++m) {
        log_weight += std::log(parameter(m).PriorDensity(tried[members()[m]]));
      }
    }
    found.push_back(tried);
    weights.push_back(log_weight);
  }
  if (found.empty()) return false;
  const double largest = *std::max_element(weights.begin(), weights.end());
  if (!std::isfinite(largest)) return false;  // the prior excludes all of them
  for (double& weight : weights) weight = std::exp(weight - largest);
  const std::vector<double>& kept = found[static_cast<size_t>(random.Weighted(weights))];
  for (int p : members()) coordinates[p] = kept[p];
  return true;
}

std::optional<ConstraintSolver::Proposal> ConstraintSolver::Propose(
    base::RandomStream& random) const {
  Proposal proposal{left_};
  for (int m = Choose(proposal.numbers, random); m >= 0; m = Choose(proposal.numbers, random)) {
    bool is_assigned = false;
    for (int i = 0; i < kTries && !is_assigned; ++i) {
      const std::optional<Drawn> drawn = Draw(m, proposal.numbers, random);
      if (!drawn) return std::nullopt;
      is_assigned = Assign(m, drawn->number, proposal.numbers);
      if (is_assigned) proposal.log_weight -= drawn->log_density;
    }
    if (!is_assigned) return std::nullopt;
  }
  return proposal;
}

/// The next member to get a number; -1 if all have one. Few numbers left are better decided early,
/// but no order is always right.
int ConstraintSolver::Choose(const Numbers& numbers, base::RandomStream& random) const {
  std::vector<int> open;
  for (int m = 0; m < std::ssize(numbers); ++m) {
    if (!numbers[m].IsPoint()) open.push_back(m);
  }
  if (open.empty()) return -1;
  if (random.UniformInt(2) == 0) return open[random.UniformInt(std::ssize(open))];
  return *std::min_element(open.begin(), open.end(),
                           [&](int a, int b) { return SizeOf(numbers[a]) < SizeOf(numbers[b]); });
}

std::optional<ConstraintSolver::Drawn> ConstraintSolver::Draw(int member, const Numbers& numbers,
                                                              base::RandomStream& random) const {
  const NumberSet& set = numbers[member];
  Drawn drawn;
  if (IsReal(member) && set.list == nullptr && !set.whole) {
    const double begin = parameter(member).Position(set.low);
    const double width = parameter(member).Position(set.high) - begin;
    const double number = parameter(member).AtPosition(begin + width * random.Uniform());
    drawn.number = std::clamp(number, set.low, set.high);
    drawn.log_density = width > 0 ? -std::log(width) : 0;
    return drawn;
  }
  const Members left = propagation_.MembersOf(member, numbers);
  if (left.count() == 0) return std::nullopt;
  drawn.number = left.At(DrawPosition(left.count(), random, drawn.log_density));
  return drawn;
}

bool ConstraintSolver::Assign(int member, double number, Numbers& numbers) const {
  Numbers assigned = numbers;
  assigned[member] = NumberSet::Point(number);
  if (!propagation_.Narrow(assigned)) return false;
  numbers = std::move(assigned);
  return true;
}

/// Numbers of a member beside its own: the next ones each way, and those nearest to the parameter's
/// own neighbours.
std::vector<double> ConstraintSolver::Targets(int member, const Numbers& numbers, double own,
                                              base::RandomStream& random) const {
  const NumberSet& set = numbers[member];
  std::vector<double> wanted =
      parameter(member).Neighbours(propagation_.CoordinateOf(member, own), random);
  for (double& coordinate : wanted) coordinate = propagation_.NumberOf(member, coordinate);
  std::vector<double> targets;
  if (IsReal(member) && set.list == nullptr && !set.whole) {
    for (double number : wanted) targets.push_back(std::clamp(number, set.low, set.high));
  } else {
    const Members left = propagation_.MembersOf(member, numbers);
    if (left.count() == 0) return {};
    const double position = left.PositionFrom(own);
    if (position > 0) targets.push_back(left.At(position - 1));
    const bool is_own = position < left.count() && left.At(position) == own;
    const double above = position + (is_own ? 1 : 0);
    if (above < left.count()) targets.push_back(left.At(above));
    for (double number : wanted) targets.push_back(left.Nearest(number));
  }
  std::sort(targets.begin(), targets.end());
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  std::erase(targets, own);
  return targets;
}

std::vector<double> ConstraintSolver::Alternatives(int member, std::span<const double> coordinates,
                                                   base::RandomStream& random) const {
  Numbers numbers = NumbersOf(coordinates);
  const double own = numbers[member].low;
  numbers[member] = left_[member];
  if (is_contradictory_ || !propagation_.Narrow(numbers)) return {};
  std::vector<double> alternatives;
  std::vector<double> changed(coordinates.begin(), coordinates.end());
  for (double target : Targets(member, numbers, own, random)) {
    numbers[member] = NumberSet::Point(target);
    if (IsFeasible(numbers, changed)) {
      alternatives.push_back(propagation_.CoordinateOf(member, target));
    }
  }
  return alternatives;
}

std::vector<std::vector<double>> ConstraintSolver::JointAlternatives(
    int member, std::span<const double> coordinates, base::RandomStream& random) const {
  std::vector<std::vector<double>> alternatives;
  if (is_contradictory_) return alternatives;
  const Numbers current = NumbersOf(coordinates);
  std::vector<double> targets = Targets(member, left_, current[member].low, random);
  random.Shuffle(targets);
  if (targets.size() > kMaxJointSteps) targets.resize(kMaxJointSteps);
  for (double target : targets) {
    Numbers numbers = left_;
    std::vector<double> changed(coordinates.begin(), coordinates.end());
    if (Assign(member, target, numbers) && Follow(current, numbers, random) &&
        IsFeasible(numbers, changed)) {
      alternatives.push_back(std::move(changed));
    }
  }
  return alternatives;
}

/// Gives the members that are still open, in random order, the numbers nearest to their current
/// ones.
bool ConstraintSolver::Follow(const Numbers& current, Numbers& numbers,
                              base::RandomStream& random) const {
  std::vector<int> order(numbers.size());
  std::iota(order.begin(), order.end(), 0);
  random.Shuffle(order);
  for (int m : order) {
    const NumberSet& set = numbers[m];
    if (set.IsPoint()) continue;
    double nearest = std::clamp(current[m].low, set.low, set.high);
    if (!set.Contains(nearest)) {
      const Members left = propagation_.MembersOf(m, numbers);
      if (left.count() == 0) return false;
      nearest = left.Nearest(current[m].low);
    }
    if (Assign(m, nearest, numbers)) continue;
    const std::optional<Drawn> other = Draw(m, numbers, random);
    if (!other || !Assign(m, other->number, numbers)) return false;
  }
  return true;
}

}  // namespace bayloom::space
