// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

#include "bayloom/tensor/workload.h"

namespace bayloom::tensor {

/// The workload a person means by a line such as
///
///     matmul:512,512,512                                M,N,K
///     matmul:128,768,768,bias,relu                      what follows elementwise
///     matmul:128,128,64,batch=12                        twelve products of activations
///     matmul:512,512,512,quantized                      of uint8 and int8, requantized
///     matmul:512,512,512,dtype=float16,sum=float32      sums in another type
///     conv2d:56x56x64,128,3x3,stride=2,pad=1,bias,relu  HxWxC,outputs,kernel
///     depthwise:56x56x144,3x3,pad=1                     HxWxC,kernel
///
/// Extents come first, in this order; then, in any order, `bias`, `residual`, `relu` and the
/// options batch, dtype, sum (float32, or the dtype; float32 for tf32) and, for convolutions,
/// stride, pad, dilation and groups. A `quantized` operator (quantized_operators.h) is one of
/// bytes; its dtype, uint8 or int8, is that of the activations. A kernel, stride, pad or dilation
/// is one number or two, rows x columns.
///
/// Throws InputError, naming the argument that is wrong and showing a line that works.
Workload ParseOperator(std::string_view text);

/// The lines above, for help texts.
std::string OperatorExamples();

}  // namespace bayloom::tensor
