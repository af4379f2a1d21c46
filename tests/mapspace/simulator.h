// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/mapspace/model.h"

namespace bayloom::mapspace {

/// Runs a mapping step by step with real sets of words in every buffer and counts what moves, for
/// one tensor at a level that keeps it. Shares nothing with the model; for small problems.
TensorTraffic SimulateTraffic(const Problem& problem, const Mapping& mapping, int level,
                              int tensor);

}  // namespace bayloom::mapspace
