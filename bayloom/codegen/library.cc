// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/library.h"

#include <algorithm>
#include <stdexcept>

namespace bayloom::codegen {

std::span<const RuntimeKernel> RuntimeKernels() {
  static constexpr RuntimeKernel kKernels[] = {
      {tensor::LibraryKernel::kTopK, "bayloom_topk", bayloom_topk},
      {tensor::LibraryKernel::kArgExtreme, "bayloom_arg_extreme", bayloom_arg_extreme},
      {tensor::LibraryKernel::kScan, "bayloom_scan", bayloom_scan},
      {tensor::LibraryKernel::kScatterRows, "bayloom_scatter_rows", bayloom_scatter_rows},
      {tensor::LibraryKernel::kScatterElements, "bayloom_scatter_elements",
       bayloom_scatter_elements},
      {tensor::LibraryKernel::kNonZero, "bayloom_nonzero", bayloom_nonzero},
      {tensor::LibraryKernel::kUnique, "bayloom_unique", bayloom_unique},
      {tensor::LibraryKernel::kNonMaxSuppression, "bayloom_nms", bayloom_nms},
  };
  return kKernels;
}

const RuntimeKernel& KernelOf(tensor::LibraryKernel kernel) {
  const std::span<const RuntimeKernel> kernels = RuntimeKernels();
  const auto found = std::ranges::find(kernels, kernel, &RuntimeKernel::kernel);
  if (found == kernels.end()) throw std::logic_error("a kernel that the runtime has not");
  return *found;
}

}  // namespace bayloom::codegen
