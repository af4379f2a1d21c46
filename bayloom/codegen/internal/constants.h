// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "bayloom/base/result.h"
#include "bayloom/target/target.h"

namespace bayloom::codegen {

/// An object file whose read-only data is a file's content, to ship weights within a library.
/// It defines, in C,
///
///     extern const unsigned char symbol[];    // aligned to 64 bytes
///     extern const uint64_t symbol_size;      // in bytes, named `symbol` with "_size" appended
///
/// Fails when the file cannot be read.
Result<std::string> EmbedFile(const std::string& symbol, const std::string& path,
                              const target::Target& target);

}  // namespace bayloom::codegen
