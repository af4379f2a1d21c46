// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sys/types.h>

#include <cstddef>

namespace bayloom::base {

/// write(2) to a pipe whose reader may be gone: that fails with EPIPE and sends no SIGPIPE,
/// whatever this process does with that signal.
ssize_t WriteIgnoringSigpipe(int descriptor, const void* data, size_t bytes);

}  // namespace bayloom::base
