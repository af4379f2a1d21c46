// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/size_division.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace bayloom::tuning {
namespace {

class SizeDivider {
 public:
  SizeDivider(const std::vector<std::vector<double>>& log_times,
              const std::vector<std::vector<int64_t>>& points, const SizeDivisionOptions& options)
      : log_times_(log_times), points_(points), options_(options) {}

  SizeDivision Best() const {
    SizeDivision best = Undivided();
    for (int size = 0; size < std::ssize(points_.front()); ++size) {
      for (int parts = 2; parts <= kMaxProgramsBySize; ++parts) {
        SizeDivision division = BySize(size, parts);
        const double gain = best.log_time - division.log_time;
        const int64_t further = std::ssize(division.parts) - std::ssize(best.parts);
        if (gain > options_.min_gain * static_cast<double>(std::max<int64_t>(further, 0) + 1)) {
          best = std::move(division);
        }
      }
    }
    return best;
  }

 private:
  SizeDivision Undivided() const {
    SizeDivision division;
    for (int program = 0; program < options_.for_largest; ++program) {
      const std::vector<double>& logs = log_times_[static_cast<size_t>(program)];
      const double mean =
          std::accumulate(logs.begin(), logs.end(), 0.0) / static_cast<double>(logs.size());
      if (mean >= division.log_time) continue;
      division.parts = {{program}};
      division.log_time = mean;
    }
    return division;
  }

  /// What a program takes for all points whose size is one of values [first, last).
  double Cost(size_t program, int size, const std::vector<int64_t>& values, size_t first,
              size_t last) const {
    double cost = 0;
    for (size_t p = 0; p < points_.size(); ++p) {
      const int64_t value = points_[p][static_cast<size_t>(size)];
      if (value >= values[first] && value <= values[last - 1]) cost += log_times_[program][p];
    }
    return cost / static_cast<double>(points_.size());
  }

  /// Shortest path over the sorted values of the size.
  SizeDivision BySize(int size, int parts) const {
    std::vector<int64_t> values;
    for (const auto& point : points_) values.push_back(point[static_cast<size_t>(size)]);
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    SizeDivision best;
    best.size = size;
    Extend(size, values, 0, parts, {}, 0, best);
    return best;
  }

  void Extend(int size, const std::vector<int64_t>& values, size_t first, int parts,
              const std::vector<SizeDivision::Part>& before, double log_time,
              SizeDivision& best) const {
    for (int program = 0; program < options_.for_largest; ++program) {
      const double rest = Cost(static_cast<size_t>(program), size, values, first, values.size());
      if (log_time + rest >= best.log_time) continue;
      best.parts = before;
      best.parts.push_back({program});
      best.log_time = log_time + rest;
    }
    if (parts == 1) return;
    for (size_t last = first + 1; last < values.size(); ++last) {
      const double between =
          std::sqrt(static_cast<double>(values[last - 1]) * static_cast<double>(values[last]));
      const int64_t up_to =
          std::clamp(static_cast<int64_t>(between), values[last - 1], values[last] - 1);
      for (size_t program = 0; program < log_times_.size(); ++program) {
        std::vector<SizeDivision::Part> path = before;
        path.push_back({static_cast<int>(program), up_to});
        Extend(size, values, last, parts - 1, path,
               log_time + Cost(program, size, values, first, last), best);
      }
    }
  }

  const std::vector<std::vector<double>>& log_times_;  // by program, by point
  const std::vector<std::vector<int64_t>>& points_;
  const SizeDivisionOptions& options_;
};

}  // namespace

int SizeDivision::ProgramAt(const std::vector<int64_t>& point) const {
  const int64_t value = point.empty() ? 0 : point[static_cast<size_t>(size)];
  return std::ranges::find_if(parts, [&](const Part& part) { return value <= part.up_to; })
      ->program;
}

SizeDivision DivideBySize(const std::vector<std::vector<double>>& log_times,
                          const std::vector<std::vector<int64_t>>& points,
                          const SizeDivisionOptions& options) {
  return SizeDivider(log_times, points, options).Best();
}

}  // namespace bayloom::tuning
