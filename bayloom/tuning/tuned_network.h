// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/graph/network_plan.h"
#include "bayloom/graph/tasks.h"
#include "bayloom/record/store.h"
#include "bayloom/target/target.h"
#include "bayloom/tensor/program.h"
#include "bayloom/tensor/workload.h"
#include "bayloom/trial/outcome.h"
#include "bayloom/tuning/constant_forms.h"
#include "bayloom/tuning/division.h"
#include "bayloom/tuning/network_front.h"
#include "bayloom/tuning/program_check.h"
#include "bayloom/tuning/programs_by_size.h"
#include "bayloom/tuning/user_store.h"
#include "bayloom/tuning/zero_trial_program.h"

namespace bayloom::tuning {

/// Where the program of a task comes from.
enum class ProgramSource : uint8_t {
  kTuned,      ///< the fastest recorded in the database that was named
  kKnown,      ///< the fastest that the user's earlier tunings found
  kEstimated,  ///< nothing was measured: the time estimate likes it best
  kPlain,      ///< nothing was measured: DefaultSchedule
};

/// The program to use for a workload, and what its trial answered if it was tuned.
struct ChosenProgram {
  tensor::Program program;
  std::optional<trial::Outcome> measured;
  ProgramSource source = ProgramSource::kPlain;
  /// Of a workload with open axes: programs for small lengths.
  std::vector<SmallCandidate> small = {};
};

/// Where programs are looked for, and how one is made where none is known.
struct ChoiceOptions {
  record::Store* store = nullptr;   ///< records of the network at hand
  UserStore* user_store = nullptr;  ///< records of all networks
  ZeroTrialOptions zero_trials = {};
  sketch::DerivationChoice derivations = {};  ///< that programs may be made by
  /// Of the networks of one library: a program that reads its constants as an earlier network does
  /// is preferred to one that the estimate likes a little better. Gets this network's as well.
  ConstantForms* forms = nullptr;
  /// What is chosen by estimate is checked, and replaced by the plain program where that fails.
  ProgramCheck* check = nullptr;
  Divisions divisions = Divisions::kAll;  ///< that are chosen between
  /// What the network is to cost. The default is the fastest program of each task.
  ProgramPreference preference = {};
  int threads = 0;  ///< for choosing; 0: one per hardware thread
  /// Told of the tasks that have a program, and of how many there are.
  std::function<void(int done, int all)> observer = {};
  /// Told why a program that was chosen by estimate is not used.
  std::function<void(const std::string&)> warning = {};
};

/// The fastest program recorded for the workload on the target; without a record, one that the time
/// estimate chooses (FastestByEstimate).
ChosenProgram ChooseProgram(const tensor::Workload& workload, const target::Target& target,
                            const ChoiceOptions& options, base::ThreadPool& pool);

/// The tasks whose programs compute by another algorithm than their definition.
struct DerivedTasks {
  int count = 0;
  double error = 0;  ///< the largest to expect, relative to a task's largest output
};

/// A network with a program for each of its tasks.
struct TunedNetwork {
  graph::TaskGraph network;  ///< as it was divided: without alternatives
  target::Target target;
  std::vector<ChosenProgram> chosen;        ///< parallel to network.tasks
  std::vector<DividedRegion> regions = {};  ///< that could have been divided otherwise
  /// What its programs cost, in seconds and bytes, where a preference has chosen them.
  std::map<ProgramObjective, double> cost = {};

  /// ChooseProgram for each of the tasks. A region that may be divided otherwise (MayPay) is, if
  /// that takes less time: as measured, where programs of both divisions were; where those of one
  /// were, it is that one; else by the estimate of all its programs.
  ///
  /// With a preference, the programs that make it up are chosen among those recorded, for the
  /// network as it was divided (NetworkFront). Throws InputError if none are within the limits.
  static TunedNetwork Choose(graph::TaskGraph network, const target::Target& target,
                             const ChoiceOptions& options);

  std::vector<const tensor::Program*> Programs() const;
  /// Those for small lengths.
  std::vector<graph::SmallProgram> SmallPrograms() const;
  /// Those with a measured program.
  int TunedTasks() const;
  int CountOf(ProgramSource source) const;
  DerivedTasks Derived() const;
};

}  // namespace bayloom::tuning
