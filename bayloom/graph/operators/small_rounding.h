// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/graph/import/small_types.h"
#include "bayloom/graph/operators/helpers.h"

namespace bayloom::graph {

/// An element type as ONNX numbers them: one that programs have, or a small type and its holder.
struct ElementType {
  tensor::DType dtype;
  const SmallType* small = nullptr;
};
/// Throws InputError for types that are not supported.
ElementType ElementTypeFromOnnx(int64_t number);
/// The type of an input.
ElementType TypeOf(OperatorContext& context, int input);

/// The number rounded to the nearest value of a small float type, to even between two, in its
/// holder. What is out of range becomes the largest value, or else infinity or NaN.
tensor::Expr RoundToFloat(const SmallType& type, const tensor::Expr& x, bool saturate);

/// Conversion as ONNX's Cast does it: floats are rounded, of integers the lowest bits are kept.
tensor::Expr CastToSmall(const SmallType& type, const tensor::Expr& x, bool saturate);

}  // namespace bayloom::graph
