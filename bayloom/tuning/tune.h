// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/cost/cost_model.h"
#include "bayloom/record/store.h"
#include "bayloom/run/learn_from.h"
#include "bayloom/run/repeat_options.h"
#include "bayloom/tuning/earlier_trials.h"
#include "bayloom/tuning/measured_sets.h"
#include "bayloom/tuning/network_front.h"
#include "bayloom/tuning/program_repeats.h"
#include "bayloom/tuning/session.h"
#include "bayloom/tuning/tuning_subject.h"
#include "bayloom/tuning/user_store.h"

namespace bayloom::tuning {

struct TuneOptions {
  /// As SessionOptions::run, but where nothing ends it, of an operator 256 trials. When a session
  /// is resumed, the scheduler is what it was begun with; something else is refused.
  run::RunOptions run = {};
  /// See strategy::Strategies; the same of a resumed session. Default "bayes".
  std::optional<std::string> strategy = {};
  /// As sketch::DerivationChoice reads it; the same of a resumed session. Default "all".
  std::optional<std::string> derivations = {};
  /// As ParseDivisions reads it; the same of a resumed session. Default "all", in sessions of
  /// versions that knew no other division "none".
  std::optional<std::string> divisions = {};
  /// As ParseObjectives reads it; the same of a resumed session. Default "latency". Others are
  /// known of programs for processors only.
  std::optional<std::string> objectives = {};
  /// What it begins with: `earlier`, the trials that earlier sessions in the database made of the
  /// same tasks on the same target; a cost model of the user's store, of databases of tunings, or
  /// the file of a pre-trained one (see ActiveLearning). Default `earlier`; the same of a resumed
  /// session, which goes on with the model that it was begun with, or without.
  std::optional<run::LearnFrom> learn_from = {};
  /// As PrecisionToJson gives it: the session keeps it. A session is resumed with what it was begun
  /// with only.
  nlohmann::json precision = {};
  /// What earlier tunings have found. With it each task first tries its zero-trial program and,
  /// unless it is to learn from nothing, what is known of it or adapted from others
  /// (FirstProgramsOf). Must outlive the tuning.
  UserStore* user_store = nullptr;
  /// Go on with the store's last session of this subject on this target, if there is one.
  bool resume = false;
  /// The best programs of each task are measured again at the end, beside the zero-trial and the
  /// default one, unless the tuning is stopped before: inside of the network where that runs here
  /// (NetworkTurns), else each alone (ProgramRepeats). That takes about this share of the time that
  /// the trials took, or two seconds if that is more; a budget of seconds includes it, and spends
  /// at most a fifth on it.
  run::RepeatOptions repeat = {.candidates = 4, .rounds = 6};
  double repeat_share = 0.05;
};

/// What is told of a tuning's progress. Called from the thread that runs it.
struct TuningObserver {
  std::function<void(const SessionStatus&, const trial::Outcome&)> on_trial = {};
  std::function<void(const SessionStatus&)> on_slot = {};
  /// A task's best programs were measured again, or that begins.
  std::function<void(const run::RepeatStatus&)> on_repeat = {};
};

/// What a tuning has achieved. Tasks count with their weights.
struct TuningGain {
  /// Seconds of each task's chosen program, in the session's order; of a task without one what its
  /// zero-trial program is estimated to take, infinity where that is not known.
  std::vector<double> seconds;
  /// How often the network runs each task, as it is divided by these times.
  std::vector<double> weights;
  std::vector<DividedRegion> regions;  ///< that could be divided otherwise
  double total_seconds = 0;
  /// Of the tasks whose default program was measured as well: how many, and what the chosen and the
  /// default programs take, measured in turns unless the choice was made later. A default program
  /// of more than ten times the time is measured roughly.
  int compared_tasks = 0;
  double compared_seconds = 0;
  double default_seconds = 0;
  /// Over the zero-trial programs, timed in turns; nullopt where that was not measured.
  std::optional<GainInTurns> over_zero_trial;
  /// Of a network with open dimensions, at each of the lengths of Graph::points, the sums over the
  /// tasks whose axes are open; empty where that is not known.
  std::vector<SizeLoss> by_size;
  /// The part of the machine's ability (RooflineShare) that all tasks together use; nullopt where
  /// the machine is not known or a task has no program.
  std::optional<double> roofline_share;
};

/// Tunes a network or an operator on a target, keeping every trial in a store.
///
///     Store store("resnet18.db");
///     Measurer measurer(target, {});
///     MeasureEvaluator evaluator(measurer);
///     Tuning tuning(NetworkSubject("resnet18", network), target, store, evaluator,
///                   {.run = {.budget = {.trials = 1000}}});
///     tuning.Run({.on_slot = ShowStatus});
///     const TunedNetwork tuned = TunedNetwork::Choose(network, target, {.store = &store});
class Tuning {
 public:
  /// `store` and `evaluator` must outlive it. Throws InputError for options that cannot be used.
  Tuning(TuningSubject subject, const target::Target& target, record::Store& store,
         ProgramEvaluator& evaluator, TuneOptions options);

  /// Makes trials until the budget is spent, then measures the best again. kStopped also where only
  /// the latter was interrupted; resumed, it goes on there.
  trial::StopReason Run(const TuningObserver& observer = {});
  Session& session() { return *session_; }
  const Session& session() const { return *session_; }
  bool resumed() const { return resumed_; }
  /// Of earlier tunings, which the session was begun with; nullopt also where the database does not
  /// have it any more.
  const std::optional<TrialPrior>& prior() const { return prior_; }
  /// Why trials cannot be carried out, after an end by StopReason::kLost.
  const std::string& lost() const { return lost_; }
  /// Keeps in the user's store, if there is one, what later tunings and commands may use, unless an
  /// emulator ran the programs.
  void Keep();
  /// As the store has it, earlier sessions included.
  TuningGain Gain() const;
  const std::vector<ProgramObjective>& objectives() const { return session_->objectives(); }
  /// The programs of all tasks that the network can be put together from, as it is divided for the
  /// latency: NetworkFront of what the store has. Empty while a task has no program.
  std::vector<NetworkChoice> Front() const;

 private:
  /// The least seconds of all tasks (RooflineSeconds), each by the algorithm of its best program,
  /// as often as `weights` says; 0 where the machine is not known.
  double RooflineBound(std::span<const double> weights) const;
  /// Decides between each task's best programs within so many seconds.
  trial::StopReason Repeat(const trial::Budget& budget, double planned,
                           const TuningObserver& observer);
  trial::StopReason RepeatAlone(const trial::Budget& budget, double planned,
                                const TuningObserver& observer);
  trial::StopReason RepeatInNetwork(const trial::Budget& budget, double planned,
                                    const TuningObserver& observer);
  /// Adds up what the tasks' programs cost at each of the lengths of a network with open
  /// dimensions.
  void AddLosses(TuningGain& gain) const;
  /// Divides by the tasks' times.
  void Divide(TuningGain& gain) const;

  record::Store& store_;
  ProgramEvaluator& evaluator_;
  TuneOptions options_;
  std::optional<TrialPrior> prior_;
  std::function<std::vector<graph::TaskGraph>()> load_;
  Divisions divisions_ = Divisions::kAll;
  bool resumed_;
  std::string name_;  ///< of the subject
  base::ThreadPool pool_;
  std::string lost_;
  std::unique_ptr<cost::CostModel> cost_model_;
  std::unique_ptr<Session> session_;
};

}  // namespace bayloom::tuning
