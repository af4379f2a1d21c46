// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/build_batch.h"

#include <unordered_map>

namespace bayloom::tuning {
namespace {

constexpr size_t kMaxTrials = 16;

}  // namespace

BuildBatch NextBatch(const std::deque<WaitingProgram>& waiting) {
  BuildBatch batch;
  std::unordered_map<uint64_t, size_t> places;
  for (const WaitingProgram& next : waiting) {
    if (batch.place_of.size() == kMaxTrials) break;
    if (next.trial->workload != waiting.front().trial->workload) break;
    const sketch::Candidate& candidate = next.trial->candidate;
    const auto [place, is_new] = places.emplace(candidate.hash, batch.programs.size());
    if (is_new) batch.programs.push_back(&candidate.program);
    batch.place_of.push_back(place->second);
  }
  return batch;
}

}  // namespace bayloom::tuning
