#pragma once

#include <string>
#include <vector>

#include "bayloom/cli/model_option.h"
#include "bayloom/tuning/task.h"

namespace bayloom {

/// What a person wants tuned: a model or one operator.
struct TuningSubject {
  std::string name;  ///< the model's file name or the operator's line
  std::vector<TaskSpec> specs;
};

/// Throws InputError unless exactly one of the two is given and usable.
TuningSubject LoadSubject(const ModelOption& model, const std::string& op);

/// The tasks of a network, named for people.
std::vector<TaskSpec> SpecsOf(const TaskGraph& network);

/// The database of a model's or an operator's records unless said otherwise: MODEL.db in the
/// current folder, or operators.db.
std::string DefaultDatabase(const ModelOption& model);

}  // namespace bayloom
