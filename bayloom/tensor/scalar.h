// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

#include "bayloom/tensor/expr.h"

namespace bayloom::tensor {

/// Arithmetic of single elements, shared by constant folding and the reference interpreter.
/// Floats of every type are held as double, integers and bools as int64 (uint64 by its bits);
/// a held value is always one that its type can represent.

/// The float type's value nearest to `value`, ties to even; overflow gives infinity.
double RoundTo(DType dtype, double value);
/// The value modulo two to the type's width, in the type's range; bool: value != 0.
int64_t WrapTo(DType dtype, int64_t value);

/// A unary or arithmetic op on floats, before rounding to the element type.
double ApplyFloat(ExprOp op, double a, double b = 0);
/// A unary, arithmetic or boolean op on integers or bools of the type. Division by zero throws
/// std::domain_error; shifts by the type's width or more shift every bit out.
int64_t ApplyInt(ExprOp op, DType dtype, int64_t a, int64_t b = 0);
/// kLess, kLessEqual, kEqual, kIsNan, kIsInf.
bool CompareFloat(ExprOp op, double a, double b = 0);
bool CompareInt(ExprOp op, DType dtype, int64_t a, int64_t b);
/// Towards zero; NaN gives 0, values beyond 64 bits saturate before they wrap to the type.
int64_t FloatToInt(DType dtype, double value);
double IntToFloat(DType from, int64_t value);

/// Elements as they lie in memory.
double LoadFloat(DType dtype, const std::byte* at);
int64_t LoadInt(DType dtype, const std::byte* at);
void StoreFloat(DType dtype, std::byte* at, double value);
void StoreInt(DType dtype, std::byte* at, int64_t value);

}  // namespace bayloom::tensor
