// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>
#include <vector>

#include "bayloom/target/target.h"
#include "bayloom/tensor/schedule.h"

namespace bayloom::sketch {

/// A rule looks at one block of a schedule and returns the schedules to go on with: the same one
/// when it does not apply, a changed one, or several alternatives. Rules are applied in order,
/// each to every block from the last to the first, and alternatives multiply up to
/// kMaxDesignSpaces.
///
/// Settings follow MetaSchedule's CPU defaults unless noted.
struct Rule {
  const char* name;
  std::vector<tensor::Schedule> (*apply)(tensor::Schedule schedule, const std::string& block,
                                         const target::Target& target);
};

/// The rule set for CPU targets, in order.
std::span<const Rule> CpuRules();
/// Those of them that fold stages into others wherever that is free.
std::span<const Rule> InliningRules();
/// Those of them that finish what a derivation (derivations.h) has scheduled.
std::span<const Rule> FinishingRules();

/// Alternatives that the rules make of one workload at most. Ordinary ones have up to nine; a chain
/// of reductions would have twice as many with each.
inline constexpr size_t kMaxDesignSpaces = 16;

/// The alternatives the rules make of the workload, lowered as it is.
std::vector<tensor::Schedule> ApplyRules(const tensor::Workload& workload,
                                         std::span<const Rule> rules, const target::Target& target);
/// The alternatives they make of schedules that have begun, of which there must be one at least.
std::vector<tensor::Schedule> ApplyRules(std::vector<tensor::Schedule> schedules,
                                         std::span<const Rule> rules, const target::Target& target);

/// Innermost tile factor a perfect tile may have.
inline constexpr int64_t kMaxInnermostFactor = 64;
/// Longest run of elements one vectorized loop covers, unless no whole registers divide the extent.
inline constexpr int64_t kMaxVectorExtent = 64;
/// Parallel jobs per core the rules aim for at most.
inline constexpr int64_t kJobsPerCore = 16;

// Annotations that rules leave on blocks for the postprocessors.
inline constexpr char kParallelJobs[] = "parallel_jobs";     ///< on the last block, for all nests
inline constexpr char kUnrollMaxStep[] = "unroll_max_step";  ///< on the last block, for all nests
inline constexpr char kTiled[] = "tiled";                    ///< the block has been tiled
inline constexpr char kPacked[] = "packed";  ///< a copy to store in its reader's order

// One rule per file.
std::vector<tensor::Schedule> InlineConstants(tensor::Schedule schedule, const std::string& block,
                                              const target::Target&);
std::vector<tensor::Schedule> AutoInline(tensor::Schedule schedule, const std::string& block,
                                         const target::Target&);
std::vector<tensor::Schedule> InlinePadding(tensor::Schedule schedule, const std::string& block,
                                            const target::Target&);
std::vector<tensor::Schedule> AddRFactor(tensor::Schedule schedule, const std::string& block,
                                         const target::Target&);
std::vector<tensor::Schedule> MultiLevelTiling(tensor::Schedule schedule, const std::string& block,
                                               const target::Target&);
std::vector<tensor::Schedule> TileReduction(tensor::Schedule schedule, const std::string& block,
                                            const target::Target&);
std::vector<tensor::Schedule> ParallelizeVectorizeUnroll(tensor::Schedule schedule,
                                                         const std::string& block,
                                                         const target::Target&);
std::vector<tensor::Schedule> RandomComputeLocation(tensor::Schedule schedule,
                                                    const std::string& block,
                                                    const target::Target&);

}  // namespace bayloom::sketch
