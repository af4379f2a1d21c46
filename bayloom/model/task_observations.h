#pragma once

#include <Eigen/Core>

#include "bayloom/model/surrogate.h"

namespace bayloom {

/// What was observed of one task; may be nothing.
struct TaskObservations {
  RowMatrix rows;
  Eigen::VectorXd values;
};

}  // namespace bayloom
