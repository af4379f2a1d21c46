// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module acquisition: the value of evaluating a configuration: expected improvement and related
/// functions, feasibility weighting, local search.

#include "bayloom/acquisition/improvement.h"
#include "bayloom/acquisition/local_search.h"
#include "bayloom/acquisition/utility.h"
