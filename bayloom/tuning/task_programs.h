// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bayloom/tuning/programs_by_size.h"

namespace bayloom::tuning {

/// Sets of programs of a task as an executor has them: one after the other, each one's for the
/// largest lengths first.
class TaskPrograms {
 public:
  /// Both must outlive it.
  void Add(const tensor::Program& largest, std::span<const SmallCandidate> small = {});
  const std::vector<const tensor::Program*>& all() const { return programs_; }
  /// The position of the program of a set that serves these values of the workload's sizes.
  int At(int set, std::span<const int64_t> sizes) const;

 private:
  std::vector<const tensor::Program*> programs_;
  std::vector<int> first_;                              // by set
  std::vector<std::span<const SmallCandidate>> small_;  // by set
};

/// The program that serves these values of the workload's sizes.
const sketch::Candidate& ProgramFor(std::span<const int64_t> sizes,
                                    const sketch::Candidate& largest,
                                    std::span<const SmallCandidate> small);

}  // namespace bayloom::tuning
