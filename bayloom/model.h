// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module model: surrogates for few observations: Gaussian processes, forests, coregionalized
/// tasks; learning curves; Sobol indices. Rows of numbers in, mean and variance out.

#include "bayloom/model/adam.h"
#include "bayloom/model/autoregressive.h"
#include "bayloom/model/cholesky.h"
#include "bayloom/model/contextual.h"
#include "bayloom/model/coregionalization.h"
#include "bayloom/model/earlier_ranking.h"
#include "bayloom/model/feasibility_forest.h"
#include "bayloom/model/fit_failure.h"
#include "bayloom/model/fit_hyperparameters.h"
#include "bayloom/model/gamma_prior.h"
#include "bayloom/model/gaussian_process.h"
#include "bayloom/model/hyperparameters.h"
#include "bayloom/model/incremental_predictor.h"
#include "bayloom/model/learning_curve.h"
#include "bayloom/model/matern.h"
#include "bayloom/model/multi_task.h"
#include "bayloom/model/objective_scale.h"
#include "bayloom/model/prior_mean.h"
#include "bayloom/model/random_forest.h"
#include "bayloom/model/regression_tree.h"
#include "bayloom/model/segment_network.h"
#include "bayloom/model/sobol_indices.h"
#include "bayloom/model/standardizer.h"
#include "bayloom/model/surrogate.h"
#include "bayloom/model/task_observations.h"
#include "bayloom/model/weighted_sum.h"
