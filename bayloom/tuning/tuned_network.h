#pragma once

#include <optional>
#include <vector>

#include "bayloom/graph/tasks.h"
#include "bayloom/record/store.h"
#include "bayloom/target/target.h"
#include "bayloom/tensor/program.h"
#include "bayloom/tensor/workload.h"
#include "bayloom/trial/outcome.h"

namespace bayloom {

/// The program to use for a workload, and what its trial answered if it was tuned.
struct ChosenProgram {
  Program program;
  std::optional<Outcome> measured;
};

/// The fastest program recorded for the workload on the target; without a store or a record, the
/// untuned one (PlainSchedule).
ChosenProgram ChooseProgram(Store* store, const Workload& workload, const Target& target);

/// A network with a program for each of its tasks.
struct TunedNetwork {
  TaskGraph network;
  Target target;
  std::vector<ChosenProgram> chosen;  ///< parallel to network.tasks

  /// The best recorded programs; without a store, the untuned ones.
  static TunedNetwork Choose(TaskGraph network, const Target& target, Store* store);

  std::vector<const Program*> Programs() const;
  int TunedTasks() const;
};

}  // namespace bayloom
