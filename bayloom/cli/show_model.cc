// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/cli/show.h"
#include "bayloom/graph/tasks.h"
#include "bayloom/report/format.h"
#include "bayloom/report/printable.h"
#include "bayloom/report/table.h"
#include "bayloom/tuning/tuning_subject.h"

namespace bayloom::cli {

namespace {

/// "3, 4": the tasks as the table numbers them.
std::string NumbersOf(const std::vector<size_t>& tasks) {
  std::vector<size_t> numbers;
  for (size_t task : tasks) numbers.push_back(task + 1);
  return fmt::format("{}", fmt::join(numbers, ", "));
}

/// The subject's tasks, those that may take the place of others last.
std::vector<tuning::TaskSpec> AllSpecs(const tuning::TuningSubject& subject) {
  std::vector<tuning::TaskSpec> specs = subject.specs;
  for (const tuning::SubjectAlternative& one : subject.alternatives) {
    specs.push_back(one.together);
    specs.back().weight = one.count;
  }
  return specs;
}

}  // namespace

void ShowModel(const ShowOptions& options) {
  const graph::TaskGraph network = options.subject.Load();
  const tuning::TuningSubject subject = tuning::NetworkSubject("", network);
  const std::vector<tuning::TaskSpec> specs = AllSpecs(subject);
  if (options.task) {
    if (*options.task < 1 || *options.task > static_cast<int64_t>(specs.size())) {
      throw InputError(fmt::format("{} has no task {}; they are numbered from 1 to {}",
                                   options.subject.path, *options.task, specs.size()));
    }
    return ShowWorkload(specs[*options.task - 1].workload, options);
  }
  std::vector<std::string> columns = {"task", "name", "calls", "arithmetic"};
  if (!subject.alternatives.empty()) columns.emplace_back("instead of");
  report::Table table(columns);
  double total = 0;
  for (size_t i = 0; i < specs.size(); ++i) {
    const double flops = specs[i].workload.Flops();
    std::vector<report::Cell> row = {static_cast<int64_t>(i) + 1,
                                     specs[i].name,
                                     static_cast<int64_t>(specs[i].weight),
                                     {flops, report::FormatFlops(flops)}};
    const bool is_other = i >= subject.specs.size();
    if (!is_other) total += specs[i].weight * flops;
    if (!subject.alternatives.empty()) {
      row.emplace_back(is_other ? NumbersOf(subject.alternatives[i - subject.specs.size()].apart)
                                : std::string());
    }
    table.AddRow(std::move(row));
  }
  if (options.json) {
    fmt::print("{}\n", report::JsonText(table.Json()));
  } else {
    fmt::print("{}\n{} in {} calls of {} tasks\n", table.Text(), report::FormatFlops(total),
               network.calls.size(), subject.specs.size());
  }
}

}  // namespace bayloom::cli
