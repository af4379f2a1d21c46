// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/// Writes a text to an existing file of the kernel's (in /proc, of a control group) at once. 0, or
/// -1 with errno. In C.
static inline int WriteText(const char* path, const char* text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return -1;
  const size_t length = strlen(text);
  const ssize_t written = write(file, text, length);
  const int error = errno;
  close(file);
  errno = error;
  return written == (ssize_t)length ? 0 : -1;
}
