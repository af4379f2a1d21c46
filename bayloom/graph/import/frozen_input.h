// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "bayloom/tensor/interpreter.h"

namespace bayloom::graph {

// Values that a person gives for an input that becomes a constant.

/// Values that an input cannot have; the message does not name it.
class FrozenValueError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The tensor in another type. Floats are rounded; everything else has to be exactly what was
/// given. Throws FrozenValueError.
tensor::HostTensor ConvertFrozen(const tensor::HostTensor& tensor, tensor::DType dtype);

/// The shape of the tensor as an input that is declared with these extents, some of them open: its
/// own if it fits; else the declared one, where there are as many elements. Throws
/// FrozenValueError.
std::vector<int64_t> FitFrozenShape(const tensor::HostTensor& tensor,
                                    const std::vector<std::optional<int64_t>>& declared);

}  // namespace bayloom::graph
