// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module cost: cost models over features, learning while tuning or trained before; selection of
/// what to measure for training.

#include "bayloom/cost/booster.h"
#include "bayloom/cost/cost_model.h"
#include "bayloom/cost/encoding.h"
#include "bayloom/cost/metrics.h"
#include "bayloom/cost/model_file.h"
#include "bayloom/cost/pretrained_model.h"
#include "bayloom/cost/sample.h"
#include "bayloom/cost/selection/score_spread.h"
#include "bayloom/cost/selection/selection.h"
#include "bayloom/cost/throughput_model.h"
#include "bayloom/cost/throughput_trees.h"
#include "bayloom/cost/xgboost_model.h"
