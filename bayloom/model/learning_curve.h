// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <span>
#include <vector>

#include "bayloom/base/random.h"

namespace bayloom::model {

struct LearningCurveOptions {
  double jump = 0.2;  ///< a relative improvement in one trial that begins a new piece
  int walkers = 10;
  int steps = 500;    ///< of each walker, the first fifth of which is not used
  int samples = 200;  ///< of the posterior, that predictions are made from
  int points = 64;    ///< of a piece that are looked at, at most; evenly spread over log time
};

/// What one trial after the other has found, and what more of them may find: the forecast of
/// DynaTune (Zhang et al. 2021, sec. 4.3).
///
/// The best performance after t trials rises along a log-power curve,
///
///     f(t) = a / (1 + (t / e^b)^c),   c < 0,
///
/// again after each jump of more than 20 %: only the piece since the last jump is looked at. The
/// prior is uniform over (a, b, c) and the logarithm of the noise, as far as f does not fall
/// short, at the horizon, of what has been found already. The posterior is sampled by
/// SampleEnsemble, started around the least-squares fit.
class LearningCurve {
 public:
  struct Prediction {
    double mean, deviation;
    double improvement;  ///< expected, over the best so far
  };

  /// `performances` of trials 1, 2, ..., more is better, as shares of the highest that the target
  /// could reach (so at most 1 or little more); 0 for a failed trial, but not all of them 0.
  /// `horizon` is the trial whose performance matters, after the last one.
  LearningCurve(std::span<const double> performances, double horizon, base::RandomStream& random,
                const LearningCurveOptions& options = {});

  /// The best performance after `trial` trials, at or after the horizon.
  Prediction At(double trial) const;

  double best() const { return best_; }
  /// The first trial of the piece that the forecast rests on, from 1 on.
  int piece_begin() const { return piece_begin_; }
  /// Share of accepted moves of the sampler: a healthy one has 0.2 to 0.6.
  double accepted() const { return accepted_; }

 private:
  double best_ = 0;
  int piece_begin_ = 1;
  double accepted_ = 0;
  std::vector<std::array<double, 4>> curves_;  ///< samples of (a, b, c, log noise)
};

}  // namespace bayloom::model
