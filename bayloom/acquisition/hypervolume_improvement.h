// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/pareto/front.h"
#include "bayloom/pareto/undominated_cells.h"

namespace bayloom::acquisition {

/// By how much a point would extend what a front dominates, in expectation, if its objectives are
/// predicted to be independent normal variables; everything minimizes.
///
/// With two and three objectives exact: what is undominated is divided into boxes, and the
/// expectation over a box is a product of differences of expected improvements (Emmerich et al.
/// 2006; Yang et al. 2019, sec. 3),
///
///     sum over boxes of  prod_k  EI_k(upper_k) - EI_k(lower_k),   EI_k(-infinity) = 0.
///
/// With more, the integral of prod_k P(f_k < z_k) over the undominated z is estimated from points z
/// drawn uniformly; the same for all configurations that are compared.
class HypervolumeImprovement {
 public:
  static constexpr size_t kMaxExactObjectives = 3;
  static constexpr int kSamples = 512;

  /// `random` is used with more than three objectives only.
  HypervolumeImprovement(std::span<const pareto::Point> front, const pareto::Point& reference,
                         base::RandomStream& random);

  /// The expected improvement for these means and variances, one of each objective.
  double operator()(std::span<const double> means, std::span<const double> variances) const;
  /// Its logarithm, finite also where the improvement underflows.
  double Log(std::span<const double> means, std::span<const double> variances) const;

 private:
  double Exact(std::span<const double> means, std::span<const double> variances) const;
  double Sampled(std::span<const double> means, std::span<const double> variances) const;

  pareto::UndominatedCells cells_;
  std::vector<pareto::Point> samples_;  ///< undominated
  double sample_volume_ = 0;            ///< that each of them stands for
};

}  // namespace bayloom::acquisition
