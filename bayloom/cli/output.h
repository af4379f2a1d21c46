// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "bayloom/base/write_ignoring_sigpipe.h"

namespace bayloom::cli {

/// Tells the user on standard error. What cannot be written is lost: it must not end a run.
template <typename... Args>
void Say(fmt::format_string<Args...> format, Args&&... args) {
  base::WriteIfPossible(stderr, fmt::format(format, std::forward<Args>(args)...));
}

/// Writes what is buffered of the standard output, of C and of C++. Throws SystemError, with the
/// reason, if anything printed so far has not arrived.
void CheckOutput();

}  // namespace bayloom::cli
