// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/pattern.h"

#include <utility>

namespace bayloom::sketch {

Pattern Recognize(const tensor::Workload& workload) {
  if (auto chain = FindProductChain(workload)) return *std::move(chain);
  if (auto chain = FindWindowChain(workload)) return *std::move(chain);
  if (auto pair = FindPooledConvolution(workload)) return *std::move(pair);
  return {};
}

}  // namespace bayloom::sketch
