// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module experimental: variants that the comparisons of papers need and that are not to be chosen:
/// strategies, schedulers, selections, optimizers, transfer methods, encodings of mappings. They
/// are made by their names once a program has called Register(), and may change without notice.

#include "bayloom/experimental/mapspace/encodings.h"
#include "bayloom/experimental/register.h"
#include "bayloom/experimental/scheduling/schedulers.h"
#include "bayloom/experimental/selection/selections.h"
#include "bayloom/experimental/strategy/rocke2024_options.h"
#include "bayloom/experimental/strategy/rocke2024_search.h"
#include "bayloom/experimental/transfer/stacking.h"
