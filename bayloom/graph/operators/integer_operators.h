// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/graph/operators/operator.h"

namespace bayloom::graph {

/// Imports the node: on the integers that its inputs are known to be made of (scaled_sum.h), where
/// there is a way to do that, else as the operator does on floats.
void ImportOnIntegersOrFloats(const Operator& op, OperatorContext& context);

// Ways to import operators of floats on integers, by file. They set the outputs and return true, or
// leave the node as it is and return false.

/// x * w + bias, where a sum over so many products of bytes fits 32 bits.
bool ConvOnIntegers(OperatorContext& context);
bool MatMulOnIntegers(OperatorContext& context);
bool GemmOnIntegers(OperatorContext& context);

/// Sums and bounds of what is a sum: nothing is computed before a reader wants it.
bool AddOnIntegers(OperatorContext& context);
bool ReluOnIntegers(OperatorContext& context);
bool ClipOnIntegers(OperatorContext& context);

/// Products of two numbers, one of them known: the scale of a product of matrices of which one is
/// quantized while the network runs.
bool MulOnIntegers(OperatorContext& context);

/// Means of bytes, summed up in 32 bits.
bool AveragePoolOnIntegers(OperatorContext& context);
bool GlobalAveragePoolOnIntegers(OperatorContext& context);

}  // namespace bayloom::graph
