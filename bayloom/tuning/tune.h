// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bayloom/cost/cost_model.h"
#include "bayloom/record/store.h"
#include "bayloom/tuning/session.h"
#include "bayloom/tuning/tuning_subject.h"

namespace bayloom::tuning {

struct TuneOptions {
  /// Without trials and seconds: 1,000 trials for a network, 256 for an operator.
  trial::Budget budget;
  /// See StrategyNames and TaskSchedulerNames. When a session is resumed, what it was begun with;
  /// something else is refused. Default "bayes" and "gradient".
  std::optional<std::string> strategy = {};
  std::optional<std::string> scheduler = {};
  /// File of a pre-trained cost model (see ActiveLearning) to begin with.
  std::optional<std::string> cost_model = {};
  uint64_t seed = 0;
  /// Go on with the store's last session of this subject on this target, if there is one.
  bool resume = false;
};

/// Tunes a network or an operator on a target, keeping every trial in a store.
///
///     Store store("resnet18.db");
///     Measurer measurer(target, {});
///     MeasureEvaluator evaluator(measurer);
///     Tuning tuning(NetworkSubject("resnet18", network), target, store, evaluator,
///                   {.budget = {.trials = 1000}});
///     tuning.Run({.on_slot = ShowStatus});
///     const TunedNetwork tuned = TunedNetwork::Choose(network, target, &store);
class Tuning {
 public:
  /// `store` and `evaluator` must outlive it. Throws InputError for options that cannot be used.
  Tuning(TuningSubject subject, const target::Target& target, record::Store& store,
         ProgramEvaluator& evaluator, TuneOptions options);

  trial::StopReason Run(const SessionObserver& observer = {}) { return session_->Run(observer); }
  Session& session() { return *session_; }
  bool resumed() const { return resumed_; }

 private:
  bool resumed_;
  std::unique_ptr<cost::CostModel> cost_model_;
  std::unique_ptr<Session> session_;
};

}  // namespace bayloom::tuning
