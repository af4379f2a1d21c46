// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/task_programs.h"

namespace bayloom::tuning {

void TaskPrograms::Add(const tensor::Program& largest, std::span<const SmallCandidate> small) {
  first_.push_back(static_cast<int>(programs_.size()));
  small_.push_back(small);
  programs_.push_back(&largest);
  for (const SmallCandidate& each : small) programs_.push_back(&each.candidate.program);
}

int TaskPrograms::At(int set, std::span<const int64_t> sizes) const {
  const auto place = static_cast<size_t>(set);
  for (size_t k = 0; k < small_[place].size(); ++k) {
    const SmallCandidate& small = small_[place][k];
    if (sizes[static_cast<size_t>(small.size)] <= small.up_to) {
      return first_[place] + 1 + static_cast<int>(k);
    }
  }
  return first_[place];
}

const sketch::Candidate& ProgramFor(std::span<const int64_t> sizes,
                                    const sketch::Candidate& largest,
                                    std::span<const SmallCandidate> small) {
  for (const SmallCandidate& each : small) {
    if (sizes[static_cast<size_t>(each.size)] <= each.up_to) return each.candidate;
  }
  return largest;
}

}  // namespace bayloom::tuning
