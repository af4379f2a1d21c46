// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bayloom/record/program_pool.h"
#include "bayloom/record/store.h"
#include "bayloom/target/target.h"
#include "bayloom/tuning/tuning_subject.h"

namespace bayloom::pretrain {

/// What a pool is filled with.
struct PoolOptions {
  std::vector<tuning::TuningSubject> networks;  ///< their operators become tasks
  std::vector<std::string> families;            ///< operators are drawn from these; see FamilyNames
  int tasks_per_family = 20;
  int64_t programs_per_task = 400;
  uint64_t seed = 0;
  int threads = 0;  ///< 0: all processors this process may run on
};

struct PoolStatus {
  int tasks = 0;  ///< filled so far
  int all_tasks = 0;
  int64_t programs = 0;  ///< of those tasks
};

/// Adds the tasks to the pool, a group for each network and family, then fills every task of the
/// pool with programs: those of earlier trials on the target, new ones by SampleIntoPool.
///
/// Ends within a second once `stop` is true, and returns whether it was complete. What is there is
/// not made again, so that the same call continues. Throws InputError where the pool has no task
/// even then.
bool FillPool(record::Store& store, record::ProgramPool& pool, const target::Target& target,
              const PoolOptions& options, const std::function<bool()>& stop,
              const std::function<void(const PoolStatus&)>& on_task = {});

/// A group of a pool, in figures.
struct PoolGroupSummary {
  std::string name;
  int64_t tasks = 0;
  int64_t programs = 0;
  int64_t measured = 0;  ///< on the target
};
std::vector<PoolGroupSummary> SummarizePool(record::Store& store, record::ProgramPool& pool,
                                            const target::Target& target);

}  // namespace bayloom::pretrain
