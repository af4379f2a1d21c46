// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/adapted_programs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "bayloom/base/json.h"

namespace bayloom::tuning {
namespace {

/// Factorizations looked at for one tile; with more, replay's own rule decides.
constexpr int64_t kMaxTilings = 200'000;
/// Draws until one says what the extents are.
constexpr int kExtentDraws = 32;

double ExtentOf(const tensor::Decision& tile) {
  double extent = 1;
  for (int64_t factor : tile.values) extent *= static_cast<double>(factor);
  return extent;
}

bool IsTile(const tensor::Trace& trace, int step) {
  return trace.instructions()[step].kind == tensor::InstructionKind::kSamplePerfectTile;
}

double Distance(const std::vector<int64_t>& factors, const std::vector<double>& wanted) {
  double distance = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const double difference = std::log2(static_cast<double>(factors[i])) - wanted[i];
    distance += difference * difference;
  }
  return distance;
}

/// `tile` for another extent.
std::vector<int64_t> AdaptTile(const tensor::Decision& tile, int64_t extent,
                               int64_t max_innermost) {
  const auto parts = static_cast<int>(tile.values.size());
  if (tensor::CountPerfectTilings(extent, parts, max_innermost) > kMaxTilings) {
    return tensor::RepairTiling(extent, tile.values, max_innermost);
  }
  std::vector<double> wanted;
  for (int64_t factor : tile.values) {
    wanted.push_back(std::log2(static_cast<double>(std::max<int64_t>(factor, 1))));
  }
  wanted[0] += std::log2(static_cast<double>(extent) / ExtentOf(tile));
  std::vector<int64_t> nearest;
  double least = std::numeric_limits<double>::infinity();
  for (const std::vector<int64_t>& tiling : tensor::PerfectTilings(extent, parts, max_innermost)) {
    const double distance = Distance(tiling, wanted);
    if (distance >= least) continue;
    least = distance;
    nearest = tiling;
  }
  return nearest;
}

/// Whether both decide all sampling steps of one design space, tiles in the same number of parts.
bool AreAlike(const tensor::Trace& a, const tensor::Trace& b) {
  if (a.SpaceHash() != b.SpaceHash()) return false;
  return std::ranges::all_of(a.SamplingSteps(), [&](int step) {
    const std::optional<tensor::Decision>&x = a.decisions()[step], &y = b.decisions()[step];
    return x && y && !x->values.empty() && x->values.size() == y->values.size();
  });
}

/// How much the extents of the tiles differ, in powers of two.
double ExtentDistance(const tensor::Trace& a, const tensor::Trace& b) {
  double distance = 0;
  for (int step : a.SamplingSteps()) {
    if (!IsTile(a, step)) continue;
    distance +=
        std::abs(std::log2(ExtentOf(*a.decisions()[step]) / ExtentOf(*b.decisions()[step])));
  }
  return distance;
}

std::optional<tensor::Trace> AnyTrace(const sketch::SpaceGenerator& space, int index) {
  for (int attempt = 0; attempt < kExtentDraws; ++attempt) {
    Result<sketch::Candidate> drawn = space.Sample(index, base::RandomStream(attempt));
    if (drawn) return std::move(drawn->trace);
  }
  return std::nullopt;
}

}  // namespace

Result<tensor::Trace> AdaptTrace(const tensor::Trace& other, const tensor::Trace& like) {
  if (!AreAlike(other, like)) return Error{"the traces are of different design spaces"};
  std::vector<std::optional<tensor::Decision>> decisions = other.decisions();
  for (int step : other.SamplingSteps()) {
    if (!IsTile(other, step)) continue;
    const auto extent = static_cast<int64_t>(ExtentOf(*like.decisions()[step]));
    std::vector<int64_t> tile =
        AdaptTile(*other.decisions()[step], extent, other.instructions()[step].attributes[1]);
    if (tile.empty()) return Error{"an extent has no such tile"};
    decisions[step] = tensor::Decision{std::move(tile)};
  }
  return like.WithDecisions(std::move(decisions));
}

AdaptedPrograms::AdaptedPrograms(record::Store& store, const target::Target& target, int per_task) {
  const std::optional<record::TargetId> id = store.FindTarget(target);
  if (!id) return;
  for (const record::TaskRecord& task : store.Tasks()) {
    for (const record::StoredTrial& trial : store.BestOf(task.id, *id, per_task)) {
      const nlohmann::json json = base::ParseJsonOrDiscard(trial.candidate);
      if (!json.is_object() || !json.contains("trace")) continue;
      Result<tensor::Trace> trace = tensor::Trace::FromJson(json["trace"]);
      if (trace) traces_[trace->SpaceHash()].push_back(*std::move(trace));
    }
  }
}

std::vector<sketch::Candidate> AdaptedPrograms::For(const sketch::SpaceGenerator& space,
                                                    int count) const {
  struct Lender {
    double distance;
    int space;
    tensor::Trace trace;  ///< adapted
  };
  std::vector<Lender> lenders;
  for (int index = 0; index < static_cast<int>(space.spaces().size()); ++index) {
    const auto known = traces_.find(space.spaces()[index].SpaceHash());
    if (known == traces_.end()) continue;
    const std::optional<tensor::Trace> like = AnyTrace(space, index);
    if (!like) continue;
    for (const tensor::Trace& trace : known->second) {
      Result<tensor::Trace> adapted = AdaptTrace(trace, *like);
      if (adapted) {
        lenders.push_back({ExtentDistance(trace, *like), index, *std::move(adapted)});
      }
    }
  }
  std::ranges::stable_sort(lenders, {}, &Lender::distance);
  std::vector<sketch::Candidate> adapted;
  std::set<uint64_t> hashes;
  for (const Lender& lender : lenders) {
    if (std::ssize(adapted) == count) break;
    Result<sketch::Candidate> candidate =
        space.Replay(lender.space, lender.trace, base::RandomStream(0));
    if (candidate && hashes.insert(candidate->hash).second) {
      adapted.push_back(*std::move(candidate));
    }
  }
  return adapted;
}

}  // namespace bayloom::tuning
