// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

namespace bayloom::base {

/// For a message that memory ran out: what limits it here, and what would help. Half a sentence.
std::string MemoryAdvice();

}  // namespace bayloom::base
