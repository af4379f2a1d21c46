#pragma once

#include <optional>

#include "bayloom/record/store.h"
#include "bayloom/space/outcome.h"
#include "bayloom/tensor/program.h"
#include "bayloom/tensor/target.h"
#include "bayloom/tensor/workload.h"

namespace bayloom {

/// The program to use for a workload, and what its trial answered if it was tuned.
struct ChosenProgram {
  Program program;
  std::optional<Outcome> measured;
};

/// The fastest program recorded for the workload on the target; without a store or a record, the
/// untuned one (PlainSchedule).
ChosenProgram ChooseProgram(Store* store, const Workload& workload, const Target& target);

}  // namespace bayloom
