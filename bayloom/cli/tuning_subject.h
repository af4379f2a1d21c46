#pragma once

#include <string>
#include <vector>

#include "bayloom/tuning/task.h"

namespace bayloom {

/// What a person wants tuned: a model or one operator.
struct TuningSubject {
  std::string name;  ///< the model's file name or the operator's line
  bool is_model = false;
  std::vector<TaskSpec> specs;

  /// The database that its records go to unless said otherwise.
  std::string DefaultDatabase() const;
};

/// Throws InputError unless exactly one of the two is given and usable.
TuningSubject LoadSubject(const std::string& model, const std::string& op);

}  // namespace bayloom
