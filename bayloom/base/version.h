// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>

namespace bayloom::base {

/// The version of this library, such as "0.2.0"; the project() call of CMakeLists.txt sets it.
std::string_view Version();

}  // namespace bayloom::base
