// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/tuning_subject.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "bayloom/graph/tasks.h"
#include "bayloom/tensor/operator_shorthand.h"
#include "bayloom/tensor/workload_name.h"
#include "bayloom/tuning/cold_constants.h"

namespace bayloom::tuning {
namespace {

/// The specs' positions by the hashes of their workloads.
std::unordered_map<uint64_t, size_t> PositionsOf(const std::vector<TaskSpec>& specs) {
  std::unordered_map<uint64_t, size_t> positions;
  for (size_t i = 0; i < specs.size(); ++i) positions[specs[i].workload.StructuralHash()] = i;
  return positions;
}

void AddAlternatives(const graph::TaskGraph& network, TuningSubject& subject) {
  const std::unordered_map<uint64_t, size_t> positions = PositionsOf(subject.specs);
  for (const graph::Alternative& one : network.alternatives) {
    std::vector<size_t> apart;
    for (int call : one.calls) {
      const tensor::Workload& workload = network.tasks[network.calls[call].task].workload;
      apart.push_back(positions.at(workload.StructuralHash()));
    }
    const uint64_t hash = one.workload.StructuralHash();
    auto known = std::ranges::find_if(subject.alternatives, [&](const SubjectAlternative& other) {
      return other.apart == apart && other.together.workload.StructuralHash() == hash;
    });
    if (known == subject.alternatives.end()) {
      subject.alternatives.push_back(
          {{.name = "", .workload = one.workload, .weight = 0}, apart, 0, one.bytes_between});
      known = std::prev(subject.alternatives.end());
    }
    ++known->count;
  }
}

void NameTasks(TuningSubject& subject) {
  std::vector<TaskSpec*> specs;
  for (TaskSpec& spec : subject.specs) specs.push_back(&spec);
  for (SubjectAlternative& one : subject.alternatives) specs.push_back(&one.together);
  std::vector<const tensor::Workload*> workloads;
  for (const TaskSpec* spec : specs) workloads.push_back(&spec->workload);
  std::vector<std::string> names = tensor::NamesOf(workloads);
  for (size_t i = 0; i < specs.size(); ++i) specs[i]->name = std::move(names[i]);
}

}  // namespace

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
  std::unordered_map<uint64_t, size_t> known = PositionsOf(specs);
  for (const graph::GraphTask& task : network.tasks) {
    const auto [spec, is_new] = known.emplace(task.workload.StructuralHash(), specs.size());
    if (is_new) specs.push_back({.name = "", .workload = task.workload, .weight = 0});
    specs[spec->second].weight += task.weight;
  }
  subject.constant_bytes = std::max(subject.constant_bytes, ConstantBytes(network));
  AddAlternatives(network, subject);
  NameTasks(subject);
}

std::vector<scheduling::TaskAlternative> TakeAlternatives(TuningSubject& subject,
                                                          Divisions divisions,
                                                          const target::Target& target) {
  std::unordered_map<uint64_t, size_t> positions = PositionsOf(subject.specs);
  std::vector<scheduling::TaskAlternative> taken;
  for (SubjectAlternative& one : std::exchange(subject.alternatives, {})) {
    if (!MayPay(one.bytes_between, divisions, target)) continue;
    const auto [together, is_new] =
        positions.emplace(one.together.workload.StructuralHash(), subject.specs.size());
    if (is_new) subject.specs.push_back(std::move(one.together));
    taken.push_back({.together = static_cast<int>(together->second),
                     .apart = {one.apart.begin(), one.apart.end()},
                     .count = one.count});
  }
  return taken;
}

std::vector<TaskSpec> SpecsOf(const graph::TaskGraph& network) {
  return NetworkSubject("", network).specs;
}

}  // namespace bayloom::tuning
