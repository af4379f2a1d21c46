#pragma once

#include <sys/types.h>

#include <cstddef>

namespace bayloom {

/// write(2) to a pipe whose reader may be gone: that fails with EPIPE and sends no SIGPIPE,
/// whatever this process does with that signal.
ssize_t WriteIgnoringSigpipe(int descriptor, const void* data, size_t bytes);

}  // namespace bayloom
