// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "bayloom/graph/operators/helpers.h"

namespace bayloom::graph {

// Operators with graphs inside. There is no control flow in a Graph: a branch that is known is
// taken, of others both are computed, and loops are unrolled.

void ImportIf(OperatorContext& context);
void ImportLoop(OperatorContext& context);
void ImportScan(OperatorContext& context);

/// Iterations of a loop, with and without work in them.
inline constexpr int64_t kMaxIterations = 1 << 16;

/// Refuses a condition that is not one bool.
void CheckCondition(OperatorContext& context, const tensor::Tensor& condition);

/// `then` where the condition, known at run time, holds, else `otherwise`, which has the same type
/// and shape.
tensor::Tensor Choose(OperatorContext& context, const tensor::Tensor& condition,
                      const tensor::Tensor& then, const tensor::Tensor& otherwise);

/// What an iteration takes or gives as a tensor; refuses sequences.
tensor::Tensor TensorOf(OperatorContext& context, const NamedValue& value);

/// The part at place `at` of the first axis, without that axis.
tensor::Tensor PartOf(OperatorContext& context, const tensor::Tensor& x, int64_t at);

/// The first `count` of the tensors along a new first axis; refuses different types and shapes. At
/// least one.
tensor::Tensor Stack(OperatorContext& context, std::vector<tensor::Tensor> parts, int64_t count);
/// The same with the type that all have in the model; refuses sequences.
NamedValue StackValues(OperatorContext& context, const std::vector<NamedValue>& parts,
                       int64_t count);
/// The value at a place among equal ones that a number of steps gives; `at` follows lengths.
NamedValue ValueAt(OperatorContext& context, const std::vector<NamedValue>& values, int64_t at);
/// With the first axis in reverse order.
NamedValue ReverseParts(OperatorContext& context, const NamedValue& x);

/// Of the type and shape of stacked parts, when there are none.
tensor::Tensor EmptyStack(OperatorContext& context, const tensor::Tensor& part);

/// The axis moved to another place, the others in order.
tensor::Tensor MoveAxis(OperatorContext& context, const tensor::Tensor& x, int from, int to);

}  // namespace bayloom::graph
