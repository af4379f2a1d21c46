// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/graph/operators/helpers.h"

namespace bayloom::graph {

/// NumPy's matmul, products as WideProduct: vectors become matrices for the while; a right operand
/// without batch axes makes one product of all the left one's rows.
tensor::Tensor MatrixProduct(OperatorContext& context, tensor::Tensor a, tensor::Tensor b);

}  // namespace bayloom::graph
