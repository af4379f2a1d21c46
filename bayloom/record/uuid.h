// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

namespace bayloom::record {

/// 128 random bits in hexadecimal.
std::string RandomUuid();

}  // namespace bayloom::record
