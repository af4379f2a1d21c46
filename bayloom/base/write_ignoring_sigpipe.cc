// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/write_ignoring_sigpipe.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace bayloom::base {

ssize_t WriteIgnoringSigpipe(int descriptor, const void* data, size_t bytes) {
  sigset_t broken_pipe;
  sigset_t before;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
  const ssize_t written = write(descriptor, data, bytes);
  const int error = errno;
  if (written < 0 && error == EPIPE) {
    const timespec now = {0, 0};
    while (sigtimedwait(&broken_pipe, nullptr, &now) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return written;
}

}  // namespace bayloom::base
