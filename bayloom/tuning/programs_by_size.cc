// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/programs_by_size.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "bayloom/feature/code_estimate.h"

namespace bayloom::tuning {
namespace {

constexpr int kMaxPrograms = 3;
/// What a further program has to gain in the mean over all points, as a part of the time.
constexpr double kMinGain = 0.02;

using Point = std::vector<int64_t>;

/// Whether both read the workload's constants in one form.
bool ReadAlike(const tensor::Program& a, const tensor::Program& b) {
  const std::vector<tensor::BufferId> parameters = a.Parameters();
  return std::ranges::all_of(parameters, [&](tensor::BufferId id) {
    const tensor::Buffer &of_a = a.buffers[id], &of_b = b.buffers[id];
    const bool has_transform = of_a.transform != nullptr || of_b.transform != nullptr;
    return of_a.layout == of_b.layout &&
           (!has_transform ||
            (of_a.transform && of_b.transform && of_a.transform->Hash() == of_b.transform->Hash()));
  });
}

/// A division of the points by the values of one size.
struct Division {
  struct Part {
    int candidate;
    int64_t up_to;  ///< of the size
  };
  int size = 0;
  std::vector<Part> parts;                                ///< by ascending values
  double loss = std::numeric_limits<double>::infinity();  ///< mean logarithm of the time
};

class SizeDivider {
 public:
  SizeDivider(const std::vector<sketch::Candidate>& candidates, const std::vector<Point>& points,
              const target::Target& target)
      : points_(points) {
    for (const sketch::Candidate& candidate : candidates) {
      std::vector<double>& logs = logs_.emplace_back();
      for (const Point& point : points) logs.push_back(LogTime(candidate, point, target));
    }
  }

  /// The best division by any size into so many parts at most, the last one with candidate 0.
  Division Best() const {
    Division best = Undivided();
    for (int size = 0; size < std::ssize(points_.front()); ++size) {
      for (int parts = 2; parts <= kMaxPrograms; ++parts) {
        Division division = BySize(size, parts);
        const double gain = best.loss - division.loss;
        const int64_t further = std::ssize(division.parts) - std::ssize(best.parts);
        if (gain > kMinGain * static_cast<double>(std::max<int64_t>(further, 0) + 1)) {
          best = std::move(division);
        }
      }
    }
    return best;
  }

 private:
  static double LogTime(const sketch::Candidate& candidate, const Point& point,
                        const target::Target& target) {
    tensor::Program program = candidate.program;
    program.points = {point};
    return std::log(feature::EstimateCodeTime(program, target));
  }

  Division Undivided() const {
    Division division{0, {{0, std::numeric_limits<int64_t>::max()}}, 0};
    for (const double log : logs_[0]) division.loss += log;
    division.loss /= static_cast<double>(points_.size());
    return division;
  }

  /// What a candidate takes for all points whose size is one of values [first, last).
  double Cost(size_t candidate, int size, const std::vector<int64_t>& values, size_t first,
              size_t last) const {
    double cost = 0;
    for (size_t p = 0; p < points_.size(); ++p) {
      const int64_t value = points_[p][static_cast<size_t>(size)];
      if (value >= values[first] && value <= values[last - 1]) cost += logs_[candidate][p];
    }
    return cost / static_cast<double>(points_.size());
  }

  /// Shortest path over the sorted values of the size.
  Division BySize(int size, int parts) const {
    std::vector<int64_t> values;
    for (const Point& point : points_) values.push_back(point[static_cast<size_t>(size)]);
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    Division best;
    best.size = size;
    Extend(size, values, 0, parts, {}, 0, best);
    return best;
  }

  void Extend(int size, const std::vector<int64_t>& values, size_t first, int parts,
              const std::vector<Division::Part>& before, double loss, Division& best) const {
    // The last part is the largest lengths' program.
    const double rest = Cost(0, size, values, first, values.size());
    if (loss + rest < best.loss) {
      best.parts = before;
      best.parts.push_back({0, std::numeric_limits<int64_t>::max()});
      best.loss = loss + rest;
    }
    if (parts == 1) return;
    for (size_t last = first + 1; last < values.size(); ++last) {
      for (size_t candidate = 1; candidate < logs_.size(); ++candidate) {
        std::vector<Division::Part> path = before;
        const double between =
            std::sqrt(static_cast<double>(values[last - 1]) * static_cast<double>(values[last]));
        path.push_back(
            {static_cast<int>(candidate),
             std::clamp(static_cast<int64_t>(between), values[last - 1], values[last] - 1)});
        Extend(size, values, last, parts - 1, path,
               loss + Cost(candidate, size, values, first, last), best);
      }
    }
  }

  const std::vector<Point>& points_;
  std::vector<std::vector<double>> logs_;  // by candidate, by point
};

/// The same spaces for programs that are judged by some of the points.
sketch::SpaceGenerator JudgedBy(const sketch::SpaceGenerator& space, std::vector<Point> points,
                                const sketch::DerivationChoice& derivations) {
  tensor::Workload workload = space.workload();
  workload.points = std::move(points);
  return {std::move(workload), space.target(), {}, derivations};
}

/// How many of the points, the first ones, are those of the largest lengths.
int64_t LargeCount(const std::vector<Point>& points) {
  return std::max<int64_t>(1, std::ssize(points) / 3);
}

}  // namespace

sketch::Candidate FastestForLargest(const sketch::SpaceGenerator& space,
                                    const sketch::DerivationChoice& derivations,
                                    std::span<const sketch::Candidate> adapted,
                                    const ZeroTrialOptions& options, base::ThreadPool& pool) {
  const std::vector<Point>& points = space.workload().points;
  const std::vector<Point> large(points.begin(), points.begin() + LargeCount(points));
  return FastestByEstimate(JudgedBy(space, large, derivations), adapted, options, pool);
}

std::vector<SmallCandidate> FastestForSmall(const sketch::SpaceGenerator& space,
                                            const sketch::DerivationChoice& derivations,
                                            const sketch::Candidate& largest,
                                            const ZeroTrialOptions& options,
                                            base::ThreadPool& pool) {
  if (options.population <= 0 || IsPlain(largest)) return {};
  const std::vector<Point>& points = space.workload().points;
  std::vector<sketch::Candidate> candidates = {largest};
  ZeroTrialOptions fewer = options;
  fewer.population = std::max(1, options.population / 2);
  fewer.accepts = [&](const tensor::Program& program) {
    return ReadAlike(program, largest.program);
  };
  for (size_t p = static_cast<size_t>(LargeCount(points)); p < points.size(); ++p) {
    sketch::Candidate found =
        FastestByEstimate(JudgedBy(space, {points[p]}, derivations), {&largest, 1}, fewer, pool);
    const bool is_new = std::ranges::none_of(
        candidates, [&](const sketch::Candidate& other) { return other.hash == found.hash; });
    if (is_new && !IsPlain(found)) candidates.push_back(std::move(found));
  }
  const Division division = SizeDivider(candidates, points, space.target()).Best();
  std::vector<SmallCandidate> small;
  for (const Division::Part& part : division.parts) {
    if (part.candidate == 0) continue;
    small.push_back({candidates[static_cast<size_t>(part.candidate)], division.size, part.up_to});
  }
  return small;
}

}  // namespace bayloom::tuning
