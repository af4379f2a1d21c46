#pragma once

#include <sys/types.h>

#include <cstddef>

namespace bayloom {

/// write(2), but where nobody reads any more it only fails with EPIPE: no SIGPIPE ends this
/// process, whatever its handlers are.
ssize_t QuietWrite(int descriptor, const void* data, size_t bytes);

}  // namespace bayloom
