// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/write_ignoring_sigpipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace bayloom::base {

namespace {

/// While it lives, this thread gets no SIGPIPE.
class SigpipeBlock {
 public:
  SigpipeBlock() {
    sigemptyset(&broken_pipe_);
    sigaddset(&broken_pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipe_, &before_);
  }
  ~SigpipeBlock() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SigpipeBlock(const SigpipeBlock&) = delete;
  SigpipeBlock& operator=(const SigpipeBlock&) = delete;

  /// To be called after a write has failed with EPIPE: takes the signal away that it caused.
  void TakeSignal() {
    const timespec now = {0, 0};
    while (sigtimedwait(&broken_pipe_, nullptr, &now) < 0 && errno == EINTR) {
    }
  }

 private:
  sigset_t broken_pipe_;
  sigset_t before_;
};

}  // namespace

ssize_t WriteIgnoringSigpipe(int descriptor, const void* data, size_t bytes) {
  SigpipeBlock block;
  const ssize_t written = write(descriptor, data, bytes);
  const int error = errno;
  if (written < 0 && error == EPIPE) block.TakeSignal();
  errno = error;
  return written;
}

void WriteIfPossible(std::FILE* out, std::string_view text) {
  SigpipeBlock block;
  errno = 0;
  const size_t written = std::fwrite(text.data(), 1, text.size(), out);
  if (std::fflush(out) != 0 || written < text.size()) {
    if (errno == EPIPE) block.TakeSignal();
    std::clearerr(out);
  }
}

void OpenStandardStreams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number, which is this one.
    const int mode = descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY;
    [[maybe_unused]] const int opened = open("/dev/null", mode);
  }
}

}  // namespace bayloom::base
