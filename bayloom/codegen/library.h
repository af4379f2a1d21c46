// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string_view>

#include "bayloom/codegen/runtime/bayloom_kernels.h"
#include "bayloom/tensor/library_call.h"

namespace bayloom::codegen {

/// The function of the runtime that a kernel of the library is.
struct RuntimeKernel {
  tensor::LibraryKernel kernel;
  std::string_view symbol;
  bayloom_kernel function;
};

std::span<const RuntimeKernel> RuntimeKernels();
const RuntimeKernel& KernelOf(tensor::LibraryKernel kernel);

}  // namespace bayloom::codegen
