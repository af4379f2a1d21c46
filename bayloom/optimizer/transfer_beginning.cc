// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "bayloom/optimizer/transfer.h"

namespace bayloom::optimizer {
namespace {

/// What a task did best is what others can use; so many of its configurations are looked at.
constexpr size_t kLookedAt = 100;

/// The task's best configurations, the best first.
std::vector<space::Configuration> BestIn(const EarlierTask& task) {
  std::vector<size_t> order(task.values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) {
    return std::tie(task.values[i], task.configurations[i].coordinates);
  });
  std::vector<space::Configuration> best;
  for (const size_t i : order) {
    if (best.size() == kLookedAt) break;
    best.push_back(task.configurations[i]);
  }
  return best;
}

int Differences(const space::Configuration& a, const space::Configuration& b) {
  int differences = 0;
  for (size_t i = 0; i < a.coordinates.size(); ++i) {
    differences += a.coordinates[i] != b.coordinates[i];
  }
  return differences;
}

/// The first one that differs from all those chosen in so many parameters.
const space::Configuration* FirstThatDiffers(const std::vector<space::Configuration>& ranked,
                                             const std::vector<space::Configuration>& chosen,
                                             int differences) {
  for (const space::Configuration& one : ranked) {
    const bool differs = std::ranges::all_of(chosen, [&](const space::Configuration& other) {
      return Differences(one, other) >= differences;
    });
    if (differs) return &one;
  }
  return nullptr;
}

/// Adds to each configuration's sum the share of the task's trials that were better than it: 1
/// where it failed, one half where the task did not try it.
void AddShares(const EarlierTask& task, std::unordered_map<space::Configuration, double>& sums) {
  std::vector<double> ascending = task.values;
  std::ranges::sort(ascending);
  const auto count = static_cast<double>(task.values.size());
  std::unordered_map<space::Configuration, double> shares;
  for (const space::Configuration& failure : task.failures) {
    if (sums.contains(failure)) shares[failure] = 1;
  }
  for (size_t i = 0; i < task.values.size(); ++i) {
    if (!sums.contains(task.configurations[i])) continue;
    const auto better = std::ranges::lower_bound(ascending, task.values[i]) - ascending.begin();
    const double share = static_cast<double>(better) / count;
    const auto [known, is_new] = shares.emplace(task.configurations[i], share);
    if (!is_new) known->second = std::min(known->second, share);
  }
  for (auto& [configuration, sum] : sums) {
    const auto share = shares.find(configuration);
    sum += share == shares.end() ? 0.5 : share->second;
  }
}

/// Of what the tasks did best, the configuration that all of them together rank first.
space::Configuration FirstInAll(const std::vector<const EarlierTask*>& tasks,
                                const std::vector<std::vector<space::Configuration>>& ranked) {
  std::unordered_map<space::Configuration, double> sums;
  for (const std::vector<space::Configuration>& best : ranked) {
    for (const space::Configuration& one : best) sums.emplace(one, 0);
  }
  for (const EarlierTask* task : tasks) AddShares(*task, sums);
  const auto first = std::ranges::min_element(
      sums, {}, [](const auto& entry) { return std::tie(entry.second, entry.first.coordinates); });
  return first->first;
}

}  // namespace

void SortTasks(std::vector<EarlierTask>& tasks) {
  std::ranges::stable_sort(tasks, [](const EarlierTask& a, const EarlierTask& b) {
    if (a.values != b.values) return a.values < b.values;
    const auto coordinates = [](const space::Configuration& c) { return c.coordinates; };
    if (!std::ranges::equal(a.configurations, b.configurations, {}, coordinates, coordinates)) {
      return std::ranges::lexicographical_compare(a.configurations, b.configurations, {},
                                                  coordinates, coordinates);
    }
    return a.name < b.name;
  });
}

std::optional<space::Configuration> Translate(const space::Space& from,
                                              const space::Configuration& configuration,
                                              const space::Space& to) {
  space::Configuration translated;
  for (int i = 0; i < to.size(); ++i) {
    const space::Parameter& parameter = to.parameter(i);
    const int other = from.IndexOf(parameter.name());
    if (other >= 0 && from.IsActive(configuration, other)) {
      const Result<double> coordinate = parameter.CoordinateOf(from.ValueOf(configuration, other));
      if (!coordinate) return std::nullopt;
      translated.coordinates.push_back(*coordinate);
    } else {
      translated.coordinates.push_back(
          parameter.default_coordinate().value_or(parameter.AtPosition(0)));
    }
  }
  translated = to.Settled(std::move(translated));
  if (!to.Contains(translated)) return std::nullopt;
  return translated;
}

std::vector<space::Configuration> BestOfEarlier(const space::Space& space,
                                                const std::vector<EarlierTask>& tasks, int count) {
  std::vector<const EarlierTask*> of_space;
  std::vector<std::vector<space::Configuration>> ranked;
  for (const EarlierTask& task : tasks) {
    if (task.space.get() != &space || task.values.empty()) continue;
    of_space.push_back(&task);
    ranked.push_back(BestIn(task));
  }
  std::vector<space::Configuration> chosen;
  if (of_space.size() > 1 && count > 0) chosen.push_back(FirstInAll(of_space, ranked));
  bool has_found = true;
  while (has_found) {
    has_found = false;
    for (const std::vector<space::Configuration>& of_task : ranked) {
      if (std::ssize(chosen) >= count) return chosen;
      const space::Configuration* next = FirstThatDiffers(of_task, chosen, 2);
      if (next == nullptr) next = FirstThatDiffers(of_task, chosen, 1);
      if (next == nullptr) continue;
      chosen.push_back(*next);
      has_found = true;
    }
  }
  return chosen;
}

}  // namespace bayloom::optimizer
