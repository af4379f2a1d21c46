// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bayloom/scheduling/task_alternative.h"
#include "bayloom/target/target.h"
#include "bayloom/tuning/division.h"
#include "bayloom/tuning/tuning_task.h"

namespace bayloom::graph {
struct TaskGraph;
}  // namespace bayloom::graph

namespace bayloom::tuning {

/// A task that may take the place of others of a subject (graph::Alternative).
struct SubjectAlternative {
  TaskSpec together;          ///< of no weight
  std::vector<size_t> apart;  ///< positions in TuningSubject::specs
  double count = 0;           ///< regions of the network for which there is the choice
  int64_t bytes_between = 0;
};

/// What is to be tuned: a network or one operator.
struct TuningSubject {
  std::string name;  ///< for the record: the model's file and sizes, or the operator's line
  std::vector<TaskSpec> specs;
  bool is_operator = false;
  /// That a run reads (ConstantBytes), of the networks the one with the most.
  int64_t constant_bytes = 0;
  std::vector<SubjectAlternative> alternatives = {};
  /// The networks that `specs` are the tasks of, again: at the end of a tuning their programs are
  /// timed inside of them. Empty for an operator, or where the networks cannot run here.
  std::function<std::vector<graph::TaskGraph>()> load = {};
};

/// The operator that a line such as "matmul:512,512,512" describes. Throws InputError for any
/// other.
TuningSubject OperatorSubject(const std::string& op);
TuningSubject NetworkSubject(const std::string& name, const graph::TaskGraph& network);
/// Adds a network, such as the same model for inputs of another shape, to what is tuned. Tasks with
/// equal workloads are one, whose weights add up.
void AddNetwork(const graph::TaskGraph& network, TuningSubject& subject);

/// Makes tasks of the subject's alternatives that may pay on the target (MayPay): what is chosen
/// between, by positions in `subject.specs`.
std::vector<scheduling::TaskAlternative> TakeAlternatives(TuningSubject& subject,
                                                          Divisions divisions,
                                                          const target::Target& target);

/// The tasks of a network, named by tensor::NamesOf.
std::vector<TaskSpec> SpecsOf(const graph::TaskGraph& network);

}  // namespace bayloom::tuning
