// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace bayloom::model {

/// How an objective enters a model.
enum class ObjectiveScale {
  kLinear,
  kLog,   ///< its logarithm, where all values are positive; else as kLinear
  kAuto,  ///< whichever of the two explains the observations better
};

}  // namespace bayloom::model
