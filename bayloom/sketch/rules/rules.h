#pragma once

#include <span>
#include <string>
#include <vector>

#include "bayloom/target/target.h"
#include "bayloom/tensor/schedule.h"

namespace bayloom {

/// A rule looks at one block of a schedule and returns the schedules to go on with: the same one
/// when it does not apply, a changed one, or several alternatives. Rules are applied in order,
/// each to every block from the last to the first, and alternatives multiply.
///
/// Settings follow MetaSchedule's CPU defaults unless noted.
struct Rule {
  const char* name;
  std::vector<Schedule> (*apply)(Schedule schedule, const std::string& block, const Target& target);
};

/// The rule set for CPU targets, in order.
std::span<const Rule> CpuRules();

/// All alternatives the rules make of the workload, lowered as it is.
std::vector<Schedule> ApplyRules(const Workload& workload, std::span<const Rule> rules,
                                 const Target& target);

/// Innermost tile factor a perfect tile may have.
inline constexpr int64_t kMaxInnermostFactor = 64;
/// Longest run of elements one vectorized loop covers.
inline constexpr int64_t kMaxVectorExtent = 64;
/// Parallel jobs per core the rules aim for at most.
inline constexpr int64_t kJobsPerCore = 16;

// Annotations that rules leave on blocks for the postprocessors.
inline constexpr char kParallelJobs[] = "parallel_jobs";     ///< on the last block, for all nests
inline constexpr char kUnrollMaxStep[] = "unroll_max_step";  ///< on the last block, for all nests
inline constexpr char kTiled[] = "tiled";                    ///< the block has been tiled
inline constexpr char kPacked[] = "packed";  ///< a copy to store in its reader's order

// One rule per file.
std::vector<Schedule> InlineConstants(Schedule schedule, const std::string& block, const Target&);
std::vector<Schedule> AutoInline(Schedule schedule, const std::string& block, const Target&);
std::vector<Schedule> InlinePadding(Schedule schedule, const std::string& block, const Target&);
std::vector<Schedule> AddRFactor(Schedule schedule, const std::string& block, const Target&);
std::vector<Schedule> MultiLevelTiling(Schedule schedule, const std::string& block, const Target&);
std::vector<Schedule> TileReduction(Schedule schedule, const std::string& block, const Target&);
std::vector<Schedule> ParallelizeVectorizeUnroll(Schedule schedule, const std::string& block,
                                                 const Target&);
std::vector<Schedule> RandomComputeLocation(Schedule schedule, const std::string& block,
                                            const Target&);

}  // namespace bayloom
