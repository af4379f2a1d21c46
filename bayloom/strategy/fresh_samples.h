// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <unordered_set>
#include <vector>

#include "bayloom/base/thread_pool.h"
#include "bayloom/sketch/design_space.h"

namespace bayloom::strategy {

using CandidatePtr = std::shared_ptr<const sketch::Candidate>;

/// Programs known so far, by structural hash.
using HashSet = std::unordered_set<uint64_t>;

/// `attempts` draws of a uniform design space with uniform decisions, in parallel; infeasible
/// draws are left out. The same for the same stream and any number of threads.
std::vector<CandidatePtr> DrawFresh(const sketch::SpaceGenerator& space, int attempts,
                                    base::RandomStream& random, base::ThreadPool& pool);

/// How many of a batch of n are drawn blindly: a share of it, and at least the controls that are
/// wanted as long as one is left to be chosen.
int UnscoredCount(double share, int controls, int n);

/// Draws until there are `count` distinct candidates that are not in `known`, and adds those to
/// it. Fewer if the design spaces seem exhausted: `kExhaustedAfter` draws in a row gave nothing
/// new.
inline constexpr int kExhaustedAfter = 5 * 512;
std::vector<CandidatePtr> DrawUnknown(const sketch::SpaceGenerator& space, int count,
                                      HashSet& known, base::RandomStream& random,
                                      base::ThreadPool& pool);

}  // namespace bayloom::strategy
