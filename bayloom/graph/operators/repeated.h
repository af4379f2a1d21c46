// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/graph/operators/helpers.h"

namespace bayloom::graph {

/// Models repeat each head of keys and values for the heads of queries that share it: an axis of
/// one element is put in behind the heads', expanded, and merged with it. What is known of that
/// (RepeatedFloats) lets products read the heads as they are. These note it: of an expanded tensor,
void NoteExpanded(OperatorContext& context, const tensor::Tensor& x,
                  const tensor::Tensor& expanded);
/// of one that has been reshaped,
void NoteReshaped(OperatorContext& context, const tensor::Tensor& x, const tensor::Tensor& shaped);
/// and of one whose axes are permuted.
void NotePermuted(OperatorContext& context, const tensor::Tensor& x, const std::vector<int>& axes,
                  const tensor::Tensor& permuted);

/// a times b, if b is known to be repeated along one of its batch axes, which a has in full;
/// nullopt if it is not. The heads of a that share one of b are rows of its product.
std::optional<tensor::Tensor> ProductWithRepeated(OperatorContext& context, const tensor::Tensor& a,
                                                  const tensor::Tensor& b);

}  // namespace bayloom::graph
