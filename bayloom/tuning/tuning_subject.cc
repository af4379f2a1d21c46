// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/tuning_subject.h"

#include <unordered_map>
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
  TuningSubject subject = {.name = name, .specs = {}};
  AddNetwork(network, subject);
  return subject;
}

void AddNetwork(const graph::TaskGraph& network, TuningSubject& subject) {
  std::vector<TaskSpec>& specs = subject.specs;
  std::unordered_map<uint64_t, size_t> known;
  for (size_t i = 0; i < specs.size(); ++i) known[specs[i].workload.StructuralHash()] = i;
  for (const graph::GraphTask& task : network.tasks) {
    const auto [spec, is_new] = known.emplace(task.workload.StructuralHash(), specs.size());
    if (is_new) specs.push_back({.name = "", .workload = task.workload, .weight = 0});
    specs[spec->second].weight += task.weight;
  }
  std::vector<const tensor::Workload*> workloads;
  for (const TaskSpec& spec : specs) workloads.push_back(&spec.workload);
  std::vector<std::string> names = tensor::NamesOf(workloads);
  for (size_t i = 0; i < specs.size(); ++i) specs[i].name = std::move(names[i]);
}

std::vector<TaskSpec> SpecsOf(const graph::TaskGraph& network) {
  return NetworkSubject("", network).specs;
}

}  // namespace bayloom::tuning
