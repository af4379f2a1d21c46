// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bayloom/tensor/dtype.h"

namespace bayloom::kernel {

/// The elements of an array that a file holds: as NumPy writes them (.npy, in C order), or as they
/// are in memory. Throws InputError, naming the file, where it has another type or number of
/// elements.
std::string ReadArrayFile(const std::string& path, tensor::DType dtype, int64_t elements);

/// A .npy file of these bytes: format 1.0 of NumPy's lib.format.
std::string NumpyFile(std::string_view bytes, tensor::DType dtype, int64_t elements);

}  // namespace bayloom::kernel
