// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bayloom/base/result.h"
#include "bayloom/cli/internal/show.h"
#include "bayloom/graph/tasks.h"
#include "bayloom/report/format.h"
#include "bayloom/report/printable.h"
#include "bayloom/report/table.h"
#include "bayloom/tuning/tuning_subject.h"

namespace bayloom::cli {

void ShowModel(const ShowOptions& options) {
  const graph::TaskGraph network = options.subject.Load();
  const std::vector<tuning::TaskSpec> specs = tuning::SpecsOf(network);
  if (options.task) {
    if (*options.task < 1 || *options.task > static_cast<int64_t>(specs.size())) {
      throw InputError(fmt::format("{} has no task {}; they are numbered from 1 to {}",
                                   options.subject.path, *options.task, specs.size()));
    }
    return ShowWorkload(specs[*options.task - 1].workload, options);
  }
  report::Table table({"task", "name", "calls", "arithmetic"});
  int64_t number = 0;
  double total = 0;
  for (const tuning::TaskSpec& spec : specs) {
    const double flops = spec.workload.Flops();
    total += spec.weight * flops;
    table.AddRow({++number,
                  spec.name,
                  static_cast<int64_t>(spec.weight),
                  {flops, report::FormatFlops(flops)}});
  }
  if (options.json) {
    fmt::print("{}\n", report::JsonText(table.Json()));
  } else {
    fmt::print("{}\n{} in {} calls of {} tasks\n", table.Text(), report::FormatFlops(total),
               network.calls.size(), specs.size());
  }
}

}  // namespace bayloom::cli
