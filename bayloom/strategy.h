// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module strategy: strategies that choose the next candidates of one task: evolutionary, random;
/// under `bayes/` those with surrogate models.
///
/// Reading order: `strategy.h`; `mutator.h` and `breeding.h`; `evolutionary_search.cc`, the
/// baseline; `bayes/bayes_search.h` with `bayes/task_model.h`.

#include "bayloom/strategy/annotated_choice.h"
#include "bayloom/strategy/bayes/bayes_options.h"
#include "bayloom/strategy/bayes/bayes_search.h"
#include "bayloom/strategy/breeding.h"
#include "bayloom/strategy/evolution.h"
#include "bayloom/strategy/fresh_samples.h"
#include "bayloom/strategy/mutator.h"
#include "bayloom/strategy/scored_candidate.h"
#include "bayloom/strategy/strategy.h"
