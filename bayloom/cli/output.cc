// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/output.h"

#include <cerrno>
#include <cstdio>
#include <iostream>
#include <string>
#include <system_error>

#include "bayloom/base/system_error.h"

namespace bayloom::cli {

void CheckOutput() {
  errno = 0;
  const bool is_written =
      static_cast<bool>(std::cout.flush()) && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (is_written) return;
  // What is said once is not said again by the next check.
  std::cout.clear();
  std::clearerr(stdout);
  // A write that failed earlier has left no reason; another one finds it.
  if (errno == 0) {
    std::fputc('\n', stdout);
    std::fflush(stdout);
    std::clearerr(stdout);
  }
  const int error = errno != 0 ? errno : EIO;
  throw SystemError("cannot write the output: " + std::generic_category().message(error));
}

}  // namespace bayloom::cli
