// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "bayloom/graph/operators/helpers.h"

namespace bayloom::graph {

inline tensor::Expr AsInt32(const tensor::Expr& e) {
  return tensor::Cast(tensor::DType::kInt32, e);
}

/// An operand of a sum of products of integers, which stand for integers - zero.
///
/// No zero point goes into the sum: it multiplies the integers themselves, as instructions do,
///
///     sum (a - za) (b - zb) = sum a b  -  za sum b  -  zb sum a  +  n za zb,
///
/// and what the zero points add is taken away from the result. Of constants that is one number for
/// each channel.
struct IntegerOperand {
  tensor::Tensor integers;
  /// One element, or one for each row of a left matrix, column of a right one, or output channel
  /// of a convolution's weights. None: 0.
  std::optional<tensor::Tensor> zero = std::nullopt;
};

/// The convolution that the node's attributes describe, and a bias of one int32 for each channel;
/// padding stands for 0. The image has one zero point.
tensor::Tensor IntegerConvolution(OperatorContext& context, const IntegerOperand& x,
                                  const IntegerOperand& weights,
                                  const std::optional<tensor::Tensor>& bias);

/// NumPy's matmul, and a bias of one int32 for each column.
tensor::Tensor IntegerMatrixProduct(OperatorContext& context, const IntegerOperand& a,
                                    const IntegerOperand& b,
                                    const std::optional<tensor::Tensor>& bias);

/// factor * the product of the tensors' elements.
struct Summand {
  int64_t factor;
  std::vector<tensor::Tensor> tensors;
};
/// int32 sums with the summands added, whose tensors broadcast to them. Constants become one.
tensor::Tensor AddSummands(OperatorContext& context, const tensor::Tensor& sums,
                           const std::vector<Summand>& summands);

}  // namespace bayloom::graph
