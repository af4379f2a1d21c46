// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Eigen/Core>

#include "bayloom/model/surrogate.h"

namespace bayloom::model {

/// What was observed of one task; may be nothing.
struct TaskObservations {
  RowMatrix rows;
  Eigen::VectorXd values;
};

}  // namespace bayloom::model
