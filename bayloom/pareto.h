// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module pareto: several objectives at once: Pareto fronts, ranks, crowding, hypervolumes.

#include "bayloom/pareto/front.h"
#include "bayloom/pareto/hypervolume.h"
#include "bayloom/pareto/undominated_cells.h"
