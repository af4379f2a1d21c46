// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bayloom/run/phase_times.h"
#include "bayloom/tuning/session.h"

namespace bayloom {

/// What is tuned, and how.
struct TuningRunOptions {
  std::string subject;  ///< "resnet50.onnx", for people
  std::string strategy;
  std::string scheduler = "gradient";
  int seed = 1;
  int trials = 2000;
  int threads = 1;
  /// A model of throughput to take for the machine (SimulatedEvaluator); else the real one is used.
  std::string simulated_machine = {};
  std::string target = "native";
  /// A model to begin with, as cost::PackModel gives it; none if empty.
  std::string prior = {};
  /// Times are those of the estimate for the target, a GPU (EstimatedEvaluator): of an imaginary
  /// device, and no measurement.
  bool estimated = false;
  /// The design spaces of a GPU know nothing of its limits.
  bool unknown_limits = false;
  /// Refuse nearly all programs, as accelerators do; see TightLimits.
  bool tight = false;
  std::string database = ":memory:";
  strategy::BayesOptions bayes;
};

/// What came of it.
struct TuningRun {
  struct Point {
    int trial;       ///< from 1
    double seconds;  ///< of the network: the sum over its tasks of weight and best time
  };

  std::string subject, strategy;
  std::string times;  ///< "measured", "simulated by a model" or "estimated, not measured"
  int seed = 0;
  int trials = 0;
  std::vector<Point> improvements;  ///< from when every task has a program
  std::vector<double> rmse;         ///< of the cost model, batch by batch
  std::vector<double> score;        ///< what it expected of the programs measured
  run::PhaseTimes phases;
  double refused = 0;  ///< part of the proposed schedules that were infeasible

  double final_seconds() const;
  /// Part of the time that the strategy took, features and predictions it asked for included.
  double strategy_share() const;
  /// Trials until the network was at least that fast; above `trials` if never.
  int TrialsToReach(double seconds) const;
};

/// Tunes. Of a database that holds a part of the run already, goes on with it.
TuningRun Tune(std::vector<tuning::TaskSpec> specs, const TuningRunOptions& options);

nlohmann::json ToJson(const TuningRun& run);

}  // namespace bayloom
