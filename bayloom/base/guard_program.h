// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

namespace bayloom::base {

/// The path at which this process finds the guard's program (guard.c), which it carries along.
/// Throws SystemError where there is no memory or descriptor for it.
std::string GuardProgram();

}  // namespace bayloom::base
