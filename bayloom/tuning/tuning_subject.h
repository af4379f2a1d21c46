// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/tuning/tuning_task.h"

namespace bayloom::graph {
struct TaskGraph;
}  // namespace bayloom::graph

namespace bayloom::tuning {

/// What is to be tuned: a network or one operator.
struct TuningSubject {
  std::string name;  ///< for the record: the model's file and sizes, or the operator's line
  std::vector<TaskSpec> specs;
  bool is_operator = false;
};

/// The operator that a line such as "matmul:512,512,512" describes. Throws InputError for any
/// other.
TuningSubject OperatorSubject(const std::string& op);
TuningSubject NetworkSubject(const std::string& name, const graph::TaskGraph& network);
/// Adds a network, such as the same model for inputs of another shape, to what is tuned. Tasks with
/// equal workloads are one, whose weights add up.
void AddNetwork(const graph::TaskGraph& network, TuningSubject& subject);

/// The tasks of a network, named by tensor::NamesOf.
std::vector<TaskSpec> SpecsOf(const graph::TaskGraph& network);

}  // namespace bayloom::tuning
