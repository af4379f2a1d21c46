// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/record/choice_store.h"
#include "bayloom/record/sample_store.h"
#include "bayloom/record/store.h"
#include "bayloom/target/target.h"
#include "bayloom/tensor/workload.h"
#include "bayloom/tuning/adapted_programs.h"
#include "bayloom/tuning/earlier_trials.h"
#include "bayloom/tuning/measured_candidate.h"

namespace bayloom::tuning {

/// What this user's tunings have found, for every task and target: the best programs, and measured
/// ones for cost models to learn from (EarlierTrials). A database as those of `bayloom tune`, in
/// one place for all models. What is there is used without being named.
///
/// Several processes may read and write it. It only ever helps: a file that is damaged, not
/// readable or locked for long is said once, and from then on nothing is known.
class UserStore {
 public:
  enum class Mode : uint8_t {
    kRead,   ///< a file that does not exist is an empty one
    kWrite,  ///< creates the file and its folder
  };
  /// Told, in one line, why the store cannot be used, or what takes time.
  using Listener = std::function<void(const std::string&)>;

  /// The environment's BAYLOOM_STORE; else bayloom/programs.db in XDG_DATA_HOME, or in
  /// ~/.local/share. nullopt where that is "off", or where no home is known.
  static std::optional<std::string> DefaultPath();

  /// No path: a store that is always empty.
  UserStore(std::optional<std::string> path, Mode mode, Listener warning, Listener notice = {});

  /// Whether there is anything to read and write.
  bool is_open() const { return store_ != nullptr; }

  /// The target with its machine as measured earlier, or measured now (kWrite), which takes some
  /// seconds and is told; the target itself where nothing can be kept or it is not this machine.
  /// What other processes disturbed is warned of, and kept as provisional: used until an
  /// undisturbed one is kept.
  target::Target WithMachine(target::Target target);
  /// The machine as it was measured earlier, undisturbed; nullopt if it never was.
  std::optional<target::MachineModel> KnownMachine(const target::Target& target);
  /// The machine as it was measured last beside other processes; nullopt if it never was.
  std::optional<target::MachineModel> ProvisionalMachine(const target::Target& target);
  /// Keeps the target's machine unless one is kept that was measured undisturbed.
  void KeepMachine(const target::Target& target, bool is_provisional = false);
  /// The fastest program known of the space's workload and target.
  std::optional<MeasuredCandidate> Find(const sketch::SpaceGenerator& space,
                                        const sketch::DerivationChoice& derivations = {});
  /// Programs of workloads that differ in their extents only, adapted to these.
  std::vector<sketch::Candidate> Adapt(const sketch::SpaceGenerator& space, int count);

  /// What this build of the program chose under a key (KeepChoice), in an earlier process, too.
  std::optional<std::string> ChoiceOf(uint64_t key);
  void KeepChoice(uint64_t key, const std::string& choice);

  struct Known {
    tensor::Workload workload;
    MeasuredCandidate program;
  };
  /// Keeps what is faster than all that is known of its workload. `name` says what was tuned.
  void Add(const std::string& name, const target::Target& target, std::span<const Known> programs);

  /// Keeps some of what was measured of a workload, for Prior.
  void AddMeasured(const target::Target& target, const tensor::Workload& workload,
                   std::vector<record::MeasuredSample> measured);
  /// What all that was measured on the target teaches; nullopt where that is too little. Training
  /// takes a second or two, and is done again when there is much more to learn from.
  std::optional<TrialPrior> Prior(const target::Target& target);

 private:
  /// Calls `use` with the store if there is one; what fails is warned of.
  void With(const std::function<void(record::Store&)>& use);

  Mode mode_;
  Listener warning_, notice_;
  std::unique_ptr<record::Store> store_;
  std::unique_ptr<record::SampleStore> samples_;  ///< of the same file
  std::unique_ptr<record::ChoiceStore> choices_;  ///< of the same file
  std::optional<AdaptedPrograms> adapted_;
  uint64_t adapted_target_ = 0;  ///< hash of the one whose programs `adapted_` has
};

}  // namespace bayloom::tuning
