// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bayloom/graph/package.h"
#include "bayloom/graph/partial.h"
#include "bayloom/report/table.h"

namespace bayloom::cli {

// A network in parts, as programs and people read it.

/// The files of a step: a part's library and header, or the model of the nodes that are left out.
struct StepFiles {
  graph::Package package;
  std::string symbols;  ///< what the names of a part's C functions begin with
  std::string model;
};

/// The plan by which a host runs the steps (docs/models.md). Files are named as they are called in
/// the plan's folder.
nlohmann::json PlanOf(const graph::PartialNetwork& network, const std::vector<StepFiles>& files);

/// Work and number of tasks of a part; zero for nodes that are left out.
struct PartWork {
  double flops = 0;
  int64_t tasks = 0;
};

/// One row for each step. `work` is parallel to the steps.
report::Table StepTable(const graph::PartialNetwork& network, const std::vector<PartWork>& work);
/// Which nodes are left out and why; equal reasons together.
report::Table LeftTable(const graph::PartialNetwork& network);
/// "2 parts with 120 of 123 nodes; 3 nodes are left to another program".
std::string Summary(const graph::PartialNetwork& network);

}  // namespace bayloom::cli
