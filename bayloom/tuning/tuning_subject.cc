// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/tuning_subject.h"

#include <utility>

#include "bayloom/graph/tasks.h"
#include "bayloom/tensor/operator_shorthand.h"
#include "bayloom/tensor/workload_name.h"

namespace bayloom::tuning {
TuningSubject OperatorSubject(const std::string& op) {
  tensor::Workload workload = tensor::ParseOperator(op);
  const std::string name = tensor::NameOf(workload);
  return {.name = op, .specs = {{name, std::move(workload), 1}}, .is_operator = true};
}

TuningSubject NetworkSubject(const std::string& name, const graph::TaskGraph& network) {
  return {.name = name, .specs = SpecsOf(network)};
}

std::vector<TaskSpec> SpecsOf(const graph::TaskGraph& network) {
  std::vector<const tensor::Workload*> workloads;
  for (const graph::GraphTask& task : network.tasks) workloads.push_back(&task.workload);
  const std::vector<std::string> names = tensor::NamesOf(workloads);
  std::vector<TaskSpec> specs;
  for (size_t i = 0; i < names.size(); ++i) {
    const graph::GraphTask& task = network.tasks[i];
    specs.push_back({names[i], task.workload, static_cast<double>(task.weight)});
  }
  return specs;
}

}  // namespace bayloom::tuning
