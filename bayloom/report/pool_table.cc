// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/pool_table.h"

#include <set>

#include "bayloom/report/format.h"

namespace bayloom::report {

Table PoolTable(record::ProgramPool& pool) {
  Table table({"group", "tasks", "programs"});
  const auto add_row = [&](const std::string& name, int64_t tasks, int64_t programs) {
    table.AddRow({name, tasks, {programs, FormatCount(programs)}});
  };
  const std::vector<record::TaskId> tasks = pool.Tasks();
  std::set<record::TaskId> without_group(tasks.begin(), tasks.end());
  for (const record::PoolGroup& group : pool.Groups()) {
    int64_t programs = 0;
    for (const record::PoolGroup::Member& member : group.members) {
      programs += pool.Count(member.task);
      without_group.erase(member.task);
    }
    add_row(group.name, std::ssize(group.members), programs);
  }
  if (without_group.empty()) return table;
  int64_t programs = 0;
  for (const record::TaskId task : without_group) programs += pool.Count(task);
  add_row("", std::ssize(without_group), programs);
  return table;
}

}  // namespace bayloom::report
