// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module acquisition: the value of evaluating a configuration: expected improvement and related
/// functions, of one objective and of several; feasibility weighting, local search.

#include "bayloom/acquisition/hypervolume_improvement.h"
#include "bayloom/acquisition/improvement.h"
#include "bayloom/acquisition/local_search.h"
#include "bayloom/acquisition/utility.h"
