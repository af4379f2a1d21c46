// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Eigen/Core>

#include "bayloom/base/random.h"
#include "bayloom/model/hyperparameters.h"
#include "bayloom/model/matern.h"

namespace bayloom::model {

struct HyperparameterSearch {
  KernelPriors priors;
  /// Lower bound of the noise variance, in units of the standardized objective's variance.
  double min_noise = 1e-6;
  int random_starts = 16;  ///< looked at, beside the start given
  int refined_starts = 3;  ///< the best of them, climbed from
  /// Starts are searched for on no more than this many rows drawn at random; the best is then
  /// refined on all.
  int search_rows = 128;
  int search_evaluations = 40;  ///< of the posterior, for each start
  int refine_evaluations = 25;  ///< on all rows
};

struct FittedHyperparameters {
  KernelHyperparameters parameters;
  double log_posterior;
};

/// What to begin with where nothing is known: every group matters alike.
KernelHyperparameters DefaultHyperparameters(int groups);

/// Climbs the log posterior from `start`. Cheap when `start` is the optimum for slightly fewer
/// observations.
FittedHyperparameters RefineHyperparameters(const RowMatrix& rows,
                                            const ColumnGroups& group_of_column,
                                            const Eigen::VectorXd& observations,
                                            const KernelHyperparameters& start,
                                            const HyperparameterSearch& search);

/// Looks at random starts as well, climbs from the best of them (Hellsten et al. 2023, sec. 3.2),
/// and refines the winner on all rows.
FittedHyperparameters SearchHyperparameters(const RowMatrix& rows,
                                            const ColumnGroups& group_of_column,
                                            const Eigen::VectorXd& observations,
                                            const KernelHyperparameters& start,
                                            const HyperparameterSearch& search,
                                            base::RandomStream& random);

}  // namespace bayloom::model
