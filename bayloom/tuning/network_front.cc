// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/network_front.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace bayloom::tuning {
namespace {

/// A choice for the tasks so far.
struct Partial {
  pareto::Point values;
  int before = -1;   ///< position of the choice that it adds a program to
  int program = -1;  ///< that is added
};

/// What two parts of a network cost together.
pareto::Point Together(const pareto::Point& a, const pareto::Point& b,
                       const std::vector<ProgramObjective>& objectives) {
  pareto::Point sum = a;
  for (size_t k = 0; k < sum.size(); ++k) {
    sum[k] = objectives[k] == ProgramObjective::kMemory ? std::max(a[k], b[k]) : a[k] + b[k];
  }
  return sum;
}

std::vector<Partial> Undominated(std::vector<Partial> all) {
  std::vector<pareto::Point> points;
  for (const Partial& each : all) points.push_back(each.values);
  std::vector<Partial> front;
  for (const int i : pareto::FrontOf(points)) front.push_back(std::move(all[i]));
  return front;
}

/// As NetworkFront says.
std::vector<Partial> Thinned(std::vector<Partial> front, size_t most) {
  if (front.size() <= most) return front;
  std::vector<pareto::Point> points;
  for (const Partial& each : front) points.push_back(each.values);
  const pareto::Bounds bounds = pareto::BoundsOf(points);
  const size_t objectives = points.front().size();
  const double parts = std::max(
      1.0,
      std::floor(std::pow(static_cast<double>(most), 1.0 / static_cast<double>(objectives - 1))));
  std::map<std::vector<int>, int> fastest;  // of each cell
  for (int i = 0; i < std::ssize(points); ++i) {
    std::vector<int> cell;
    for (size_t k = 1; k < objectives; ++k) {
      const double range = bounds.Range(k);
      const double place = range > 0 ? (points[i][k] - bounds.ideal[k]) / range : 0;
      cell.push_back(static_cast<int>(std::min(parts - 1, std::floor(place * parts))));
    }
    const auto [known, is_new] = fastest.emplace(std::move(cell), i);
    if (!is_new && points[i] < points[known->second]) known->second = i;
  }
  std::set<int> kept;
  for (const auto& [cell, i] : fastest) kept.insert(i);
  for (size_t k = 0; k < objectives; ++k) {
    kept.insert(static_cast<int>(
        std::ranges::min_element(points, {}, [k](const pareto::Point& p) { return p[k]; }) -
        points.begin()));
  }
  std::vector<Partial> thinned;
  for (const int i : kept) thinned.push_back(std::move(front[i]));
  return thinned;
}

size_t PlaceOf(const std::vector<ProgramObjective>& objectives, ProgramObjective objective) {
  return std::ranges::find(objectives, objective) - objectives.begin();
}

/// "512.3 kB".
std::string Kilobytes(double bytes) { return fmt::format("{:.1f} kB", bytes / 1000); }

}  // namespace

std::vector<NetworkChoice> NetworkFront(std::span<const FrontTask> tasks,
                                        const std::vector<ProgramObjective>& objectives,
                                        size_t max_members) {
  // The first layer is the network without tasks.
  std::vector<std::vector<Partial>> layers(1);
  layers.front().push_back({.values = pareto::Point(objectives.size(), 0)});
  for (const FrontTask& task : tasks) {
    std::vector<Partial> all;
    for (int before = 0; before < std::ssize(layers.back()); ++before) {
      for (int program = 0; program < std::ssize(task.programs); ++program) {
        all.push_back(
            {Together(layers.back()[before].values,
                      task.programs[program].ValuesFor(task.calls, objectives), objectives),
             before, program});
      }
    }
    layers.push_back(Thinned(Undominated(std::move(all)), max_members));
  }
  std::vector<NetworkChoice> front;
  for (int member = 0; member < std::ssize(layers.back()); ++member) {
    NetworkChoice& choice = front.emplace_back();
    choice.values = layers.back()[member].values;
    for (size_t layer = tasks.size(), place = member; layer > 0; --layer) {
      choice.programs.push_back(layers[layer][place].program);
      place = layers[layer][place].before;
    }
    std::ranges::reverse(choice.programs);
  }
  std::ranges::sort(front, {}, &NetworkChoice::values);
  return front;
}

bool ProgramPreference::IsDefault() const { return Objectives().size() == 1; }

std::vector<ProgramObjective> ProgramPreference::Objectives() const {
  std::vector<ProgramObjective> objectives = {ProgramObjective::kLatency};
  if (prefer == ProgramObjective::kSize || std::isfinite(max_size)) {
    objectives.push_back(ProgramObjective::kSize);
  }
  if (prefer == ProgramObjective::kMemory || std::isfinite(max_memory)) {
    objectives.push_back(ProgramObjective::kMemory);
  }
  return objectives;
}

Result<size_t> Prefer(std::span<const NetworkChoice> front, const ProgramPreference& preference) {
  const std::vector<ProgramObjective> objectives = preference.Objectives();
  const size_t size = PlaceOf(objectives, ProgramObjective::kSize);
  const size_t memory = PlaceOf(objectives, ProgramObjective::kMemory);
  const double slowest = front.front().values[0] * (1 + preference.max_slowdown);
  const auto in = [&](const NetworkChoice& choice, size_t place, double limit) {
    return place == objectives.size() || choice.values[place] <= limit;
  };
  const size_t wanted = PlaceOf(objectives, preference.prefer);
  std::optional<size_t> best;
  for (size_t i = 0; i < front.size(); ++i) {
    const pareto::Point& values = front[i].values;
    if (!in(front[i], size, preference.max_size) || !in(front[i], memory, preference.max_memory) ||
        values[0] > slowest) {
      continue;
    }
    // Equals come in the order of their latencies.
    if (!best || values[wanted] < front[*best].values[wanted]) best = i;
  }
  if (best) return *best;
  const auto least = [&](size_t place) {
    return Kilobytes(std::ranges::min(front, {}, [place](const NetworkChoice& choice) {
                       return choice.values[place];
                     }).values[place]);
  };
  std::string possible;
  if (size < objectives.size()) possible += ", the smallest programs have " + least(size);
  if (memory < objectives.size()) possible += ", the least memory is " + least(memory);
  return Error{"no programs known are within the limits" + possible};
}

}  // namespace bayloom::tuning
