// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <variant>

#include "bayloom/sketch/pooled_convolution.h"
#include "bayloom/sketch/product_chain.h"
#include "bayloom/sketch/window_chain.h"

namespace bayloom::sketch {

/// What a workload is, where it is more than one operation with what is inlined into it: it has
/// design spaces of its own then, and its default schedule inlines nothing.
using Pattern = std::variant<std::monostate, ProductChain, WindowChain, PooledConvolution>;

/// The pattern of a workload; std::monostate if it is not one of them.
Pattern Recognize(const tensor::Workload& workload);

inline bool IsPlain(const Pattern& pattern) {
  return std::holds_alternative<std::monostate>(pattern);
}

}  // namespace bayloom::sketch
