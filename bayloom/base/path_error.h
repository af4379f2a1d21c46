// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

namespace bayloom::base {

/// Throws for a failed operation on a path that a person gave, with "`what`: the system's reason":
/// an InputError where the path is at fault (there is no such folder, it is not permitted, it is of
/// the wrong kind), a SystemError where the machine is (the disk is full or broken, there are too
/// many open files).
[[noreturn]] void ThrowPathError(const std::string& what, int error_number);

}  // namespace bayloom::base
