// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/pretrain/pool_filling.h"

#include "bayloom/base/result.h"
#include "bayloom/base/thread_pool.h"
#include "bayloom/pretrain/operator_families.h"
#include "bayloom/pretrain/pool_measurement.h"
#include "bayloom/pretrain/pool_sampling.h"
#include "bayloom/sketch/design_space.h"

namespace bayloom::pretrain {
namespace {

void AddTasks(record::Store& store, record::ProgramPool& pool, const PoolOptions& options) {
  for (const tuning::TuningSubject& network : options.networks) {
    for (const tuning::TaskSpec& spec : network.specs) {
      pool.PutIntoGroup(network.name, store.AddTask(spec.workload), spec.weight);
    }
  }
  for (const std::string& family : options.families) {
    for (const tensor::Workload& workload :
         DrawFamily(family, options.tasks_per_family, options.seed)) {
      pool.PutIntoGroup(family, store.AddTask(workload), 1);
    }
  }
}

}  // namespace

bool FillPool(record::Store& store, record::ProgramPool& pool, const target::Target& target,
              const PoolOptions& options, const std::function<bool()>& stop,
              const std::function<void(const PoolStatus&)>& on_task) {
  AddTasks(store, pool, options);
  const std::vector<record::TaskId> tasks = GroupedTasks(pool);
  if (tasks.empty()) {
    throw InputError(pool.path() + " has no tasks: neither networks nor families were given");
  }
  base::ThreadPool threads(options.threads);
  PoolStatus status;
  status.all_tasks = static_cast<int>(tasks.size());
  for (const record::TaskId task : tasks) {
    if (stop()) return false;
    const sketch::SpaceGenerator space(store.WorkloadOf(task), target);
    AddRecordedPrograms(space, store, pool);
    SampleIntoPool(space, task, pool,
                   {.programs = options.programs_per_task, .seed = options.seed, .stop = stop},
                   threads);
    ++status.tasks;
    status.programs += pool.Count(task);
    if (on_task) on_task(status);
  }
  return !stop();
}

std::vector<PoolGroupSummary> SummarizePool(record::Store& store, record::ProgramPool& pool,
                                            const target::Target& target) {
  std::vector<PoolGroupSummary> groups;
  for (const record::PoolGroup& group : pool.Groups()) {
    PoolGroupSummary& summary = groups.emplace_back();
    summary.name = group.name;
    summary.tasks = std::ssize(group.members);
    for (const record::PoolGroup::Member& member : group.members) {
      summary.programs += pool.Count(member.task);
      summary.measured += std::ssize(MeasuredPrograms(store, pool, member.task, target));
    }
  }
  return groups;
}

}  // namespace bayloom::pretrain
