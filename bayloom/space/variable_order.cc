// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/variable_order.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "bayloom/space/constraint.h"

namespace bayloom::space {
namespace {

using Set = uint64_t;  ///< of positions in the list of domains

bool IsTruth(Operation operation) {
  return (operation >= Operation::kEqual && operation <= Operation::kNot) ||
         operation == Operation::kIn || operation == Operation::kCode;
}

class Estimator {
 public:
  Estimator(const ExpressionGraph& graph, std::span<const int> constraints,
            std::span<const Domain> domains)
      : graph_(graph), constraints_(constraints.begin(), constraints.end()) {
    std::map<int, int> position;
    for (const Domain& domain : domains) {
      position[domain.parameter] = static_cast<int>(bits_.size());
      bits_.push_back(std::log2(static_cast<double>(domain.ranks.size())));
    }
    variables_.resize(graph.size());
    for (int e = 0; e < graph.size(); ++e) {
      const Expression& expression = graph[e];
      if (expression.operation == Operation::kTerm) {
        const auto found = position.find(graph.term(expression.index).parameter);
        if (found != position.end()) variables_[e] = Set{1} << found->second;
      }
      for (int operand : expression.operands) variables_[e] |= variables_[operand];
    }
  }

  /// One of the orders: from `start` on greedily. `cost`: of all levels, the estimated number of
  /// values to look at.
  std::vector<int> Order(int start, double& cost) const {
    std::vector<int> order = {start};
    Set assigned = Set{1} << start;
    cost = std::exp2(bits_[start]);
    while (order.size() < bits_.size()) {
      const double width = Width(assigned);
      int best = -1;
      double least = 0;
      for (int v = 0; v < static_cast<int>(bits_.size()); ++v) {
        if ((assigned >> v & 1) != 0) continue;
        const double after = Width(assigned | Set{1} << v) + 0.1 * bits_[v];
        if (best < 0 || after < least) {
          best = v;
          least = after;
        }
      }
      cost += std::exp2(width + bits_[best]);
      assigned |= Set{1} << best;
      order.push_back(best);
    }
    return order;
  }

 private:
  double BitsOf(Set variables) const {
    double bits = 0;
    for (size_t v = 0; v < bits_.size(); ++v) {
      if ((variables >> v & 1) != 0) bits += bits_[v];
    }
    return bits;
  }

  /// Logarithm of the estimated number of different remainders once these are assigned.
  double Width(Set assigned) const {
    std::set<std::vector<int>> pieces;
    for (int constraint : constraints_) {
      const Set variables = variables_[constraint];
      if ((variables & assigned) != 0 && (variables & ~assigned) != 0) {
        Collect(constraint, assigned, pieces);
      }
    }
    double bits = 0;
    Set variables = 0;
    for (const std::vector<int>& piece : pieces) {
      Set own = 0;
      for (int operand : piece) own |= variables_[operand];
      // Products and sums of several factors have far fewer values than there are combinations.
      const double most = BitsOf(own) * (std::popcount(own) > 1 ? 0.7 : 1);
      bits += IsTruth(graph_[piece[0]].operation) ? std::min(1.0, most) : most;
      variables |= own;
    }
    return std::min(bits, BitsOf(variables));
  }

  /// The largest known parts of an expression; of what can be combined in any order, all that is
  /// known is one part.
  void Collect(int e, Set assigned, std::set<std::vector<int>>& pieces) const {
    if ((variables_[e] & assigned) == 0) return;
    if ((variables_[e] & ~assigned) == 0) {
      pieces.insert({e});
      return;
    }
    std::vector<int> operands;
    Flatten(graph_[e].operation, e, operands);
    std::vector<int> known;
    for (int operand : operands) {
      const bool is_known = variables_[operand] != 0 && (variables_[operand] & ~assigned) == 0;
      if (is_known && IsAssociative(graph_[e].operation)) {
        known.push_back(operand);
      } else {
        Collect(operand, assigned, pieces);
      }
    }
    std::sort(known.begin(), known.end());
    if (!known.empty()) pieces.insert(std::move(known));
  }

  void Flatten(Operation operation, int e, std::vector<int>& operands) const {
    for (int operand : graph_[e].operands) {
      if (IsAssociative(operation) && graph_[operand].operation == operation) {
        Flatten(operation, operand, operands);
      } else {
        operands.push_back(operand);
      }
    }
  }

  const ExpressionGraph& graph_;
  std::vector<int> constraints_;
  std::vector<double> bits_;    ///< by position: logarithm of the domain's size
  std::vector<Set> variables_;  ///< by expression
};

}  // namespace

std::vector<std::vector<int>> PromisingOrders(const ExpressionGraph& graph,
                                              std::span<const int> constraints,
                                              std::span<const Domain> domains, int most) {
  const Estimator estimator(graph, constraints, domains);
  std::vector<std::pair<double, std::vector<int>>> orders;
  for (int start = 0; start < static_cast<int>(domains.size()); ++start) {
    double cost = 0;
    std::vector<int> order = estimator.Order(start, cost);
    orders.emplace_back(cost, std::move(order));
  }
  std::sort(orders.begin(), orders.end());
  std::vector<std::vector<int>> best;
  const auto add = [&](const std::vector<int>& order) {
    if (std::find(best.begin(), best.end(), order) == best.end()) best.push_back(order);
  };
  for (const auto& [cost, order] : orders) {
    if (static_cast<int>(best.size()) < most) add(order);
  }
  std::vector<int> given(domains.size());
  std::iota(given.begin(), given.end(), 0);
  add(given);
  return best;
}

std::vector<int> SeparatingOrder(const ExpressionGraph& graph, std::span<const int> constraints,
                                 std::span<const Domain> domains) {
  std::map<int, int> position;
  for (int d = 0; d < std::ssize(domains); ++d) position[domains[d].parameter] = d;
  std::vector<std::vector<int>> bound;  // by constraint: the domains it is on
  std::vector<std::vector<int>> constraints_of(domains.size());
  for (int constraint : constraints) {
    for (int parameter : ParametersOf(graph, constraint)) {
      constraints_of[position.at(parameter)].push_back(static_cast<int>(bound.size()));
    }
    bound.emplace_back();
    for (int parameter : ParametersOf(graph, constraint)) {
      bound.back().push_back(position.at(parameter));
    }
  }
  std::vector<int> part_of(domains.size(), 0);  // -1: in the order already
  std::vector<int> order;
  int parts = 1;
  std::vector<std::vector<int>> open = {std::vector<int>(domains.size())};
  std::iota(open[0].begin(), open[0].end(), 0);
  while (!open.empty()) {
    const std::vector<int> part = std::move(open.back());
    open.pop_back();
    const int first = *std::ranges::max_element(part, {}, [&](int d) {
      return std::ranges::count_if(constraints_of[d], [&](int c) {
        return std::ranges::any_of(bound[c], [&](int e) { return e != d && part_of[e] >= 0; });
      });
    });
    order.push_back(first);
    part_of[first] = -1;
    const int before = parts;
    const size_t others = open.size();
    for (int start : part) {
      if (part_of[start] < 0 || part_of[start] >= before) continue;
      std::vector<int> connected = {start};
      part_of[start] = parts;
      for (size_t i = 0; i < connected.size(); ++i) {
        for (int c : constraints_of[connected[i]]) {
          for (int d : bound[c]) {
            if (part_of[d] < 0 || part_of[d] == parts) continue;
            part_of[d] = parts;
            connected.push_back(d);
          }
        }
      }
      ++parts;
      open.push_back(std::move(connected));
    }
    // The smallest part next: what is known matters to it, and then no more.
    std::stable_sort(open.begin() + static_cast<int64_t>(others), open.end(),
                     [](const auto& a, const auto& b) { return a.size() > b.size(); });
  }
  return order;
}

}  // namespace bayloom::space
