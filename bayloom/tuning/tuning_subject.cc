// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/tuning_subject.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "bayloom/base/result.h"
#include "bayloom/graph/tasks.h"
#include "bayloom/tensor/operator_shorthand.h"

namespace bayloom::tuning {
namespace {

/// The stage that a workload is about: the one with the most points.
const tensor::Stage& MainStage(const tensor::Workload& workload) {
  const auto points = [](const tensor::Stage& stage) {
    double product = 1;
    for (const tensor::Iter& iter : stage.iters) product *= static_cast<double>(iter.extent);
    return product;
  };
  return *std::max_element(
      workload.stages.begin(), workload.stages.end(),
      [&](const tensor::Stage& a, const tensor::Stage& b) { return points(a) < points(b); });
}

std::string Extents(const tensor::Stage& stage, tensor::IterKind kind) {
  std::vector<int64_t> extents;
  for (const tensor::Iter& iter : stage.iters) {
    if (iter.kind == kind) extents.push_back(iter.extent);
  }
  return fmt::format("{}", fmt::join(extents, "x"));
}

/// "conv+relu 1x56x56x64 over 3x3x64".
std::string Describe(const tensor::Workload& workload) {
  const tensor::Stage& stage = MainStage(workload);
  const std::string reduction = Extents(stage, tensor::IterKind::kReduction);
  return workload.name + " " + Extents(stage, tensor::IterKind::kSpatial) +
         (reduction.empty() ? "" : " over " + reduction);
}

}  // namespace

TuningSubject OperatorSubject(const std::string& op) {
  return {.name = op, .specs = {{op, tensor::ParseOperator(op), 1}}, .is_operator = true};
}

TuningSubject NetworkSubject(const std::string& name, const graph::TaskGraph& network) {
  return {.name = name, .specs = SpecsOf(network)};
}

std::vector<TaskSpec> SpecsOf(const graph::TaskGraph& network) {
  std::vector<TaskSpec> specs;
  for (const graph::GraphTask& task : network.tasks) {
    specs.push_back({Describe(task.workload), task.workload, static_cast<double>(task.weight)});
  }
  return specs;
}

}  // namespace bayloom::tuning
