// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/guard_program.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <string_view>
#include <system_error>

#include "bayloom/base/file.h"
#include "bayloom/base/system_error.h"

// The program as the build has linked it.
asm(R"(
.pushsection .rodata
.global bayloom_guard_begin
.global bayloom_guard_end
bayloom_guard_begin:
.incbin ")" BAYLOOM_GUARD_FILE R"("
bayloom_guard_end:
.byte 0
.popsection
)");
extern "C" const char bayloom_guard_begin[];
extern "C" const char bayloom_guard_end[];

namespace bayloom::base {
namespace {

#ifndef MFD_EXEC
constexpr unsigned MFD_EXEC = 0x10;
#endif

/// A file in memory that contains the program.
int MakeFile() {
  // Kernels before 6.3 do not know that a file is to be executed, and do not have to.
  int file = memfd_create("bayloom-guard", MFD_CLOEXEC | MFD_EXEC);
  if (file < 0 && errno == EINVAL) file = memfd_create("bayloom-guard", MFD_CLOEXEC);
  const std::string_view program(bayloom_guard_begin, bayloom_guard_end - bayloom_guard_begin);
  const int error = file < 0 ? errno : WriteAll(file, program);
  if (error == 0) return file;
  if (file >= 0) close(file);
  throw SystemError("cannot make shared memory: " + std::generic_category().message(error));
}

}  // namespace

std::string GuardProgram() {
  static std::mutex mutex;
  static int file = -1;
  const std::lock_guard lock(mutex);
  if (file < 0) file = MakeFile();
  // Not /proc/self: where it is executed, the number may have become another descriptor's.
  return fmt::format("/proc/{}/fd/{}", getpid(), file);
}

}  // namespace bayloom::base
