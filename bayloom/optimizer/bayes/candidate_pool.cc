// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/bayes/candidate_pool.h"

namespace bayloom::optimizer {

CandidatePool::CandidatePool(std::vector<space::Configuration> configurations,
                             const Features& features)
    : configurations_(std::move(configurations)),
      rows_(features(configurations_)),
      is_free_(configurations_.size(), 1) {
  places_.reserve(configurations_.size());
  for (int i = 0; i < size(); ++i) {
    const bool is_new = places_.emplace(configurations_[i], i).second;
    if (!is_new) is_free_[i] = 0;
  }
}

void CandidatePool::Take(const space::Configuration& configuration) {
  const auto place = places_.find(configuration);
  if (place != places_.end()) is_free_[place->second] = 0;
}

void CandidatePool::Release(const space::Configuration& configuration) {
  const auto place = places_.find(configuration);
  if (place != places_.end()) is_free_[place->second] = 1;
}

}  // namespace bayloom::optimizer
