// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module pretrain: pools of programs that may be measured; training cost models on few of them by
/// active learning; their evaluation; learning for later tunings while the machine is idle.

#include "bayloom/pretrain/active_learning.h"
#include "bayloom/pretrain/evaluation.h"
#include "bayloom/pretrain/operator_families.h"
#include "bayloom/pretrain/pool_filling.h"
#include "bayloom/pretrain/pool_measurement.h"
#include "bayloom/pretrain/pool_sampling.h"
#include "bayloom/pretrain/pretraining.h"
#include "bayloom/pretrain/prior_learning.h"
#include "bayloom/pretrain/task_split.h"
