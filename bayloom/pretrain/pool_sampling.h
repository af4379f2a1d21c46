// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>

#include "bayloom/base/stop_flag.h"
#include "bayloom/base/thread_pool.h"
#include "bayloom/record/program_pool.h"
#include "bayloom/record/store.h"
#include "bayloom/sketch/design_space.h"

namespace bayloom::pretrain {

struct PoolSamplingOptions {
  int64_t programs = 400;  ///< a task is to have
  /// Part of them that are children of the others: one generation of mutations, as TenSet has it
  /// (Zheng et al. 2021). Spaces with few programs give fewer.
  double evolved_share = 0.5;
  uint64_t seed = 0;
  std::function<bool()> stop = base::StopRequested;  ///< asked between chunks
};

/// Fills a task's pool with distinct programs of its design spaces up to the number wanted, and
/// returns how many were added; 0 where the task has enough. Programs are written chunk by chunk:
/// interrupted anywhere, the next call goes on.
int64_t SampleIntoPool(const sketch::SpaceGenerator& space, record::TaskId task,
                       record::ProgramPool& pool, const PoolSamplingOptions& options,
                       base::ThreadPool& threads);

/// Adds those programs of the task's trials on the target that the pool does not have yet and that
/// can still be made; returns how many.
int64_t AddRecordedPrograms(const sketch::SpaceGenerator& space, record::Store& store,
                            record::ProgramPool& pool);

}  // namespace bayloom::pretrain
