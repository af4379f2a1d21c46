// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/programs_by_size.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bayloom/feature/code_estimate.h"

namespace bayloom::tuning {
namespace {

using Point = std::vector<int64_t>;

double LogTime(const sketch::Candidate& candidate, const Point& point,
               const target::Target& target) {
  tensor::Program program = candidate.program;
  program.points = {point};
  return std::log(feature::EstimateCodeTime(program, target));
}

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

bool MayBeBeside(const tensor::Program& largest, const tensor::Program& small) {
  constexpr double kMaxFurtherBytes = 0.6;
  if (ReadAlike(largest, small)) return true;
  const auto constant_bytes = [](const tensor::Program& program) {
    int64_t bytes = 0;
    for (const tensor::Buffer& buffer : program.buffers) {
      if (buffer.role != tensor::BufferRole::kConstant) continue;
      bytes += buffer.ElementCount() * tensor::ByteSize(buffer.dtype);
    }
    return static_cast<double>(bytes);
  };
  return constant_bytes(small) <= kMaxFurtherBytes * constant_bytes(largest);
}

std::vector<SmallCandidate> SmallOf(const SizeDivision& division,
                                    std::span<const sketch::Candidate> candidates) {
  std::vector<SmallCandidate> small;
  for (const SizeDivision::Part& part : division.parts) {
    if (&part == &division.parts.back()) break;
    small.push_back({candidates[static_cast<size_t>(part.program)], division.size, part.up_to});
  }
  return small;
}

sketch::Candidate FastestForLargest(const sketch::SpaceGenerator& space,
                                    const sketch::DerivationChoice& derivations,
                                    std::span<const sketch::Candidate> adapted,
                                    const ZeroTrialOptions& options, base::ThreadPool& pool) {
  const std::vector<Point>& points = space.workload().points;
  const std::vector<Point> large(points.begin(), points.begin() + LargeCount(points));
  sketch::Candidate fastest =
      FastestByEstimate(JudgedBy(space, large, derivations), adapted, options, pool);
  fastest.program.points = points;
  return fastest;
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
  fewer.population = std::max(1, options.population / 8);
  fewer.accepts = [&](const tensor::Program& program) {
    return MayBeBeside(largest.program, program);
  };
  for (size_t p = static_cast<size_t>(LargeCount(points)); p < points.size(); ++p) {
    // What was found for the lengths above is a start.
    sketch::Candidate found =
        FastestByEstimate(JudgedBy(space, {points[p]}, derivations), candidates, fewer, pool);
    found.program.points = points;
    const bool is_new = std::ranges::none_of(
        candidates, [&](const sketch::Candidate& other) { return other.hash == found.hash; });
    if (is_new && !IsPlain(found)) candidates.push_back(std::move(found));
  }
  std::vector<std::vector<double>> log_times;
  for (const sketch::Candidate& candidate : candidates) {
    std::vector<double>& logs = log_times.emplace_back();
    for (const Point& point : points) logs.push_back(LogTime(candidate, point, space.target()));
  }
  const SizeDivision division = DivideBySize(log_times, points);
  return SmallOf(division, candidates);
}

}  // namespace bayloom::tuning
