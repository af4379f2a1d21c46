// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/tensor/schedule.h"

namespace bayloom::sketch {

/// What chains of windows with products before or behind them are recognized by.

/// The only reader of what a block inside computes; -1 if there is none.
tensor::BlockId OnlyReaderOf(const tensor::Program& program, tensor::BlockId id);

/// Whether all operands move with the last spatial iterator: no channel is read for another.
bool IsChannelByChannel(const tensor::Block& block);

/// Whether the block is a guarded copy that `reader` alone reads.
bool IsPaddingOf(const tensor::Program& program, tensor::BlockId id, tensor::BlockId reader);

/// The workload with elementwise stages folded into others. Those that a reduction reads stay:
/// there they would be computed again and again; so do those between a reduction and the padding
/// behind it.
tensor::Schedule FoldElementwise(const tensor::Workload& workload);

}  // namespace bayloom::sketch
