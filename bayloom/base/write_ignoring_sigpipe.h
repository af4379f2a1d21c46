// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdio>
#include <string_view>

namespace bayloom::base {

/// write(2) to a pipe whose reader may be gone: that fails with EPIPE and sends no SIGPIPE,
/// independent of what this process does with that signal.
ssize_t WriteIgnoringSigpipe(int descriptor, const void* data, size_t bytes);

/// Writes what may as well be lost to a standard stream: progress, remarks, complaints. A disk that
/// is full, a reader that is gone and a stream that is closed change nothing.
void WriteIfPossible(std::FILE* out, std::string_view text);

/// Opens those of descriptors 0, 1 and 2 that are closed, so that no file or database gets the
/// number of a standard stream: 0 and 2 lead nowhere, writing to 1 fails.
void OpenStandardStreams();

}  // namespace bayloom::base
