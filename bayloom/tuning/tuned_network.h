// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "bayloom/graph/tasks.h"
#include "bayloom/record/store.h"
#include "bayloom/target/target.h"
#include "bayloom/tensor/program.h"
#include "bayloom/tensor/workload.h"
#include "bayloom/trial/outcome.h"

namespace bayloom::tuning {

/// The program to use for a workload, and what its trial answered if it was tuned.
struct ChosenProgram {
  tensor::Program program;
  std::optional<trial::Outcome> measured;
};

/// The fastest program recorded for the workload on the target; without a store or a record, the
/// untuned one (DefaultSchedule).
ChosenProgram ChooseProgram(record::Store* store, const tensor::Workload& workload,
                            const target::Target& target);

/// A network with a program for each of its tasks.
struct TunedNetwork {
  graph::TaskGraph network;
  target::Target target;
  std::vector<ChosenProgram> chosen;  ///< parallel to network.tasks

  /// The best recorded programs; without a store, the untuned ones.
  static TunedNetwork Choose(graph::TaskGraph network, const target::Target& target,
                             record::Store* store);

  std::vector<const tensor::Program*> Programs() const;
  int TunedTasks() const;
};

}  // namespace bayloom::tuning
