#pragma once

#include "bayloom/sketch/design_space.h"
#include "bayloom/trial/outcome.h"

namespace bayloom {

/// A program together with what its trial answered.
struct MeasuredCandidate {
  Candidate candidate;
  Outcome outcome;
};

}  // namespace bayloom
