// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bayloom/record/store.h"
#include "bayloom/run/repeat_options.h"
#include "bayloom/trial/budget.h"
#include "bayloom/tuning/gain_in_turns.h"
#include "bayloom/tuning/session.h"
#include "bayloom/tuning/task_programs.h"
#include "bayloom/tuning/tuned_network.h"

namespace bayloom::tuning {

/// Runs a network with one of several programs for each task: what NetworkTurns times.
class TurnRunner {
 public:
  virtual ~TurnRunner() = default;
  /// From now on runs are for these lengths of a network's open dimensions.
  virtual void SetLengths(std::span<const int64_t>) {}
  /// From now on the task is run by this one of its programs.
  virtual void Use(int task, int program) = 0;
  /// One run; adds each call's seconds to `seconds` unless that is null.
  virtual void Run(std::vector<double>* seconds) = 0;
  /// Seconds that a run takes, of a monotonic clock.
  virtual double Now() = 0;
};

/// A network in this process (graph::Executor), with random inputs. `programs`: of each task.
std::unique_ptr<TurnRunner> MakeTurnRunner(
    const graph::TaskGraph& network, const target::Target& target,
    const std::vector<std::vector<const tensor::Program*>>& programs);

/// Decides which of its best programs each task of a network gets, by times that are taken inside
/// of the network, in the order in which it runs: with the data, the caches and the neighbours that
/// programs will have. In each round every program that is still in is timed once (Turns), after a
/// run that warms up. A program takes the place of the zero-trial one only if it is clearly faster.
/// A network with open dimensions is run for each of the lengths of Graph::points in turn, and its
/// times are geometric means over these; its programs are sets of which one serves each length.
/// Then the network with the chosen programs and with the zero-trial ones is timed in turns; if the
/// chosen ones are not clearly faster together, they are not used. The default programs are timed
/// beside, where that does not take long.
class NetworkTurns {
 public:
  struct Options {
    int candidates = 4;  ///< of each task, beside the zero-trial program
    /// What it may take, and as long again where the turns do not say which is faster. A few rounds
    /// and pairs are carried out in any case.
    trial::Budget budget = {.seconds = 3};
  };
  using RunnerMaker = std::function<std::unique_ptr<TurnRunner>(
      const std::vector<std::vector<const tensor::Program*>>&)>;

  /// `network`: as it will be compiled (TunedNetwork::Choose). Tasks that the session has compared
  /// since its last trial keep what was chosen. All must outlive it.
  NetworkTurns(record::Store& store, const Session& session, const TunedNetwork& network,
               Options options);

  ~NetworkTurns();

  /// What the budget stops leaves no trace. Otherwise each task's comparison is written to the
  /// store; from then on Store::BestOf goes by it.
  trial::StopReason Run(const RunnerMaker& make,
                        const std::function<void(const run::RepeatStatus&)>& observer = {});
  /// Nothing before Run has ended, and where no task has a zero-trial program that was tried.
  /// Without rounds: nothing was gained.
  const std::optional<GainInTurns>& gain() const { return gain_; }

 private:
  struct Contest;

  /// Times a round; false if it was stopped, as the next.
  bool RunRound(TurnRunner& runner);
  bool RunPairs(TurnRunner& runner, double until);
  /// Does something for each of the lengths that the network is run for; with one where there is
  /// nothing to choose.
  void AtEachPoint(TurnRunner& runner, const std::function<void(size_t point)>& action) const;
  void Use(TurnRunner& runner, size_t task, int finalist, size_t point) const;
  void UseAll(TurnRunner& runner, bool chosen, size_t point);
  /// Adds a task of the network.
  void AddContest(size_t position, const TuningTask* task, bool is_compared);
  void LimitToTime();
  int Decided() const;
  void TimeDefaults(TurnRunner& runner);
  void Record();

  record::Store& store_;
  const Session& session_;
  const TunedNetwork& network_;
  Options options_;
  std::vector<Contest> contests_;       ///< parallel to the network's tasks
  std::vector<TaskPrograms> programs_;  ///< parallel, while it runs
  int repeats_ = 1;                     ///< timed runs of a measurement
  double all_over_mean_ = 1;  ///< a run at each of the lengths, in terms of their mean time
  std::vector<double> zero_trial_seconds_, tuned_seconds_;
  std::optional<GainInTurns> gain_;
};

}  // namespace bayloom::tuning
