// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "bayloom/target/target.h"

namespace bayloom::graph {
struct TaskGraph;
}  // namespace bayloom::graph

namespace bayloom::tuning {

/// Bytes of the constants that a run of the network reads, weights above all.
int64_t ConstantBytes(const graph::TaskGraph& network);

/// Whether so many bytes of constants leave the target's last cache before the next run of the
/// network reads them again. Not asked of GPUs: false.
bool AreCold(int64_t constant_bytes, const target::Target& target);

/// Tells the network's workloads that their constants are cold (Workload::has_cold_constants).
void HaveColdConstants(graph::TaskGraph& network);

}  // namespace bayloom::tuning
