// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/sketch/design_space.h"
#include "bayloom/trial/outcome.h"

namespace bayloom::tuning {

/// A program together with what its trial answered.
struct MeasuredCandidate {
  sketch::Candidate candidate;
  trial::Outcome outcome;
};

}  // namespace bayloom::tuning
