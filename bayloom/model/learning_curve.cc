// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/learning_curve.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>

#include "bayloom/model/ensemble_sampler.h"
#include "bayloom/model/minimize.h"

namespace bayloom::model {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::Vector4d;
using Eigen::VectorXd;

enum Parameter { kAsymptote, kLogHalfway, kExponent, kLogNoise };

/// The best performance so far at some trials of the last piece.
struct Piece {
  int begin;
  ArrayXd log_trials;
  ArrayXd best;
};

/// Where the prior is not zero, but for the condition at the horizon.
struct Box {
  Vector4d lower, upper;

  bool Contains(const VectorXd& x) const {
    return (x.array() >= lower.array()).all() && (x.array() <= upper.array()).all();
  }
  /// Mirrors at the walls what lies a little beyond: points stay apart, where clamping joins them.
  VectorXd Reflect(const VectorXd& x) const {
    const VectorXd above = lower + (x - lower).cwiseAbs();
    return upper - (upper - above).cwiseAbs();
  }
};

/// (t / e^b)^c.
double Decay(const VectorXd& x, double log_trial) {
  return std::exp(x(kExponent) * (log_trial - x(kLogHalfway)));
}

double CurveAt(const VectorXd& x, double log_trial) {
  return x(kAsymptote) / (1 + Decay(x, log_trial));
}

Piece LastPiece(std::span<const double> performances, const LearningCurveOptions& options) {
  std::vector<double> best(performances.begin(), performances.end());
  int begin = 0;
  for (int i = 1; i < std::ssize(best); ++i) {
    best[i] = std::max(best[i], best[i - 1]);
    if (best[i] > (1 + options.jump) * best[i - 1]) begin = i;
  }
  const int end = static_cast<int>(best.size());
  const double span = std::log(static_cast<double>(end)) - std::log(begin + 1.0);
  std::vector<int> chosen;
  for (int i = 0; i < options.points; ++i) {
    const double trial = (begin + 1) * std::exp(span * i / std::max(1, options.points - 1));
    const int index = std::clamp(static_cast<int>(std::lround(trial)) - 1, begin, end - 1);
    if (chosen.empty() || chosen.back() != index) chosen.push_back(index);
  }
  Piece piece{begin + 1, ArrayXd(chosen.size()), ArrayXd(chosen.size())};
  for (size_t i = 0; i < chosen.size(); ++i) {
    piece.log_trials(static_cast<Index>(i)) = std::log(chosen[i] + 1.0);
    piece.best(static_cast<Index>(i)) = best[chosen[i]];
  }
  return piece;
}

/// Sum of the squared errors, with its gradient by (a, b, c).
double SquaredError(const Piece& piece, const VectorXd& x, VectorXd* gradient) {
  double sum = 0;
  if (gradient != nullptr) gradient->setZero(3);
  for (Index i = 0; i < piece.best.size(); ++i) {
    const double decay = Decay(x, piece.log_trials(i));
    const double share = 1 / (1 + decay);
    const double error = x(kAsymptote) * share - piece.best(i);
    sum += error * error;
    if (gradient == nullptr) continue;
    const double slope = 2 * error * x(kAsymptote) * decay * share * share;
    (*gradient)(kAsymptote) += 2 * error * share;
    (*gradient)(kLogHalfway) += slope * x(kExponent);
    (*gradient)(kExponent) -= slope * (piece.log_trials(i) - x(kLogHalfway));
  }
  return sum;
}

/// The least-squares curve, with the noise that it leaves.
VectorXd FitCurve(const Piece& piece, const Box& box) {
  auto error = [&](const VectorXd& x, VectorXd* gradient) {
    return SquaredError(piece, x, gradient);
  };
  const double highest = piece.best.maxCoeff();
  const double begin = piece.log_trials.minCoeff(), end = piece.log_trials.maxCoeff();
  double least = std::numeric_limits<double>::infinity();
  VectorXd fitted(4);
  for (const double log_halfway : {begin - 1, 0.5 * (begin + end), end}) {
    for (const double exponent : {-0.5, -2.0}) {
      double squares;
      const VectorXd curve =
          Minimize(error, Eigen::Vector3d(1.1 * highest, log_halfway, exponent),
                   box.lower.head<3>(), box.upper.head<3>(), MinimizeOptions{}, squares);
      if (squares >= least) continue;
      least = squares;
      fitted.head<3>() = curve;
    }
  }
  const double noise = std::sqrt(least / static_cast<double>(piece.best.size()));
  fitted(kLogNoise) = std::max(std::log(noise), box.lower(kLogNoise));
  return fitted;
}

/// A tight ball of walkers around the fit, within the prior: where a walker's curve would fall
/// short at the horizon, its asymptote is raised, or else it starts from the plateau at the best.
Eigen::MatrixXd Ball(const VectorXd& fitted, const Box& box, double best, double log_horizon,
                     int walkers, base::RandomStream& random) {
  Eigen::MatrixXd ball(4, walkers);
  for (int k = 0; k < walkers; ++k) {
    VectorXd walker = fitted;
    for (double& coordinate : walker) {
      coordinate += 1e-2 * (1e-2 + std::abs(coordinate)) * random.Normal();
    }
    walker = box.Reflect(walker);
    const double needed = best * (1 + Decay(walker, log_horizon)) * (1 + 1e-3 * random.Uniform());
    walker(kAsymptote) = std::max(walker(kAsymptote), needed);
    if (walker(kAsymptote) > box.upper(kAsymptote)) {
      walker << best * (1 + 1e-2 * (1 + random.Uniform())), -1 - random.Uniform(),
          -6 - random.Uniform(), walker(kLogNoise);
    }
    ball.col(k) = walker;
  }
  return ball;
}

}  // namespace

LearningCurve::LearningCurve(std::span<const double> performances, double horizon,
                             base::RandomStream& random, const LearningCurveOptions& options) {
  const Piece piece = LastPiece(performances, options);
  const double log_horizon = std::log(horizon);
  piece_begin_ = piece.begin;
  best_ = piece.best.maxCoeff();
  const Box box{{best_, -10, -10, std::log(1e-3 * best_)},
                {std::max(1.0, 1.1 * best_), log_horizon + 10, -1e-2, std::log(best_)}};

  auto log_posterior = [&](const VectorXd& x) {
    if (!box.Contains(x) || CurveAt(x, log_horizon) < best_) {
      return -std::numeric_limits<double>::infinity();
    }
    const double squares = SquaredError(piece, x, nullptr);
    return -0.5 * squares * std::exp(-2 * x(kLogNoise)) -
           static_cast<double>(piece.best.size()) * x(kLogNoise);
  };
  const Eigen::MatrixXd ball =
      Ball(FitCurve(piece, box), box, best_, log_horizon, options.walkers, random);
  const EnsembleChain chain = SampleEnsemble(log_posterior, ball, options.steps, random);
  accepted_ = chain.accepted;

  const Index settled = chain.samples.cols() / 5;
  const auto kept = std::min<Index>(options.samples, chain.samples.cols() - settled);
  curves_.resize(static_cast<size_t>(kept));
  for (Index i = 0; i < kept; ++i) {
    Vector4d::Map(curves_[static_cast<size_t>(i)].data()) =
        chain.samples.col(settled + (chain.samples.cols() - settled - 1) * (i + 1) / kept);
  }
}

LearningCurve::Prediction LearningCurve::At(double trial) const {
  ArrayXd found(static_cast<Index>(curves_.size()));
  for (Index i = 0; i < found.size(); ++i) {
    const auto curve = Vector4d::Map(curves_[static_cast<size_t>(i)].data());
    found(i) = CurveAt(curve, std::log(trial));
  }
  const double mean = found.mean();
  return {mean, std::sqrt((found - mean).square().mean()), (found - best_).max(0).mean()};
}

}  // namespace bayloom::model
