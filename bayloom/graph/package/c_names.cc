// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/package/c_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bayloom/graph/package.h"

namespace bayloom::graph {
namespace {

/// File names stay below the 255 bytes that file systems allow.
constexpr size_t kMaxNameLength = 100;

/// Headers of C, C++ and POSIX systems, which NAME.h would hide; libraries that -lNAME would find;
/// what has functions called NAME_create or NAME_destroy; and our own. Sorted.
constexpr auto kTaken = std::to_array<std::string_view>(
    {"aio",       "alloca",   "ar",       "argp",      "argz",     "asm",         "assert",
     "bayloom",   "byteswap", "c",        "cnd",       "complex",  "cpio",        "cpuid",
     "crypt",     "ctype",    "dirent",   "dl",        "dlfcn",    "elf",         "endian",
     "envz",      "err",      "errno",    "error",     "execinfo", "fcntl",       "features",
     "fenv",      "float",    "fmtmsg",   "fnmatch",   "fstab",    "fts",         "ftw",
     "gcc",       "gcc_s",    "gconv",    "getopt",    "glob",     "gomp",        "grp",
     "gshadow",   "iconv",    "ifaddrs",  "immintrin", "inttypes", "iso646",      "langinfo",
     "libgen",    "libintl",  "limits",   "link",      "locale",   "m",           "malloc",
     "math",      "mcheck",   "memory",   "mntent",    "monetary", "mq",          "mqueue",
     "mtx",       "ndbm",     "netdb",    "new",       "nss",      "obstack",     "omp",
     "openmp",    "paths",    "poll",     "printf",    "pthread",  "pty",         "pwd",
     "regex",     "regexp",   "resolv",   "rt",        "sched",    "search",      "sem",
     "semaphore", "setjmp",   "sgtty",    "shadow",    "shm",      "signal",      "spawn",
     "stab",      "stdalign", "stdarg",   "stdatomic", "stdbit",   "stdbool",     "stdc",
     "stdckdint", "stddef",   "stdint",   "stdio",     "stdlib",   "stdnoreturn", "string",
     "strings",   "stropts",  "syscall",  "sysexits",  "syslog",   "tar",         "termio",
     "termios",   "tgmath",   "thrd",     "threads",   "time",     "timer",       "trace",
     "tss",       "ttyent",   "uchar",    "ucontext",  "ulimit",   "unistd",      "util",
     "utime",     "utmp",     "utmpx",    "values",    "varargs",  "wait",        "wchar",
     "wctype",    "wordexp",  "xmmintrin"});

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsTaken(std::string_view name) {
  return std::binary_search(kTaken.begin(), kTaken.end(), name) || name.starts_with("pthread_") ||
         name.starts_with("bayloom_");
}

/// Letters, digits and single underscores between them; empty if there are none.
std::string WithoutOddities(std::string_view text) {
  std::string name;
  for (char c : text) {
    const bool plain = IsLetter(c) || IsDigit(c);
    if (plain) name += c;
    if (!plain && !name.empty() && name.back() != '_') name += '_';
    if (name.size() == kMaxNameLength) break;
  }
  if (!name.empty() && name.back() == '_') name.pop_back();
  return name;
}

}  // namespace

std::string ToPackageName(const std::string& text) {
  std::string name = WithoutOddities(text);
  if (name.empty()) return "network";
  if (IsTaken(name) || IsDigit(name[0])) name.insert(0, "net_");
  return name;
}

std::optional<std::string> WhyNotAPackageName(std::string_view name) {
  if (name.empty()) return "it is empty";
  if (name.size() > kMaxNameLength)
    return fmt::format("it is longer than {} letters", kMaxNameLength);
  if (!IsLetter(name[0])) return "it does not begin with a letter";
  if (WithoutOddities(name) != name) {
    return "it is not made of letters, digits and single underscores between them";
  }
  if (IsTaken(name)) return "the system has functions, a header or a library of this name";
  return std::nullopt;
}

std::string InComment(std::string_view text) {
  constexpr size_t kMaxText = 200;
  std::string shown;
  for (char c : text.substr(0, kMaxText)) {
    const bool plain = c >= ' ' && c <= '~' && c != '*' && c != '?' && c != '\\' && c != '"';
    shown += plain ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return text.size() > kMaxText ? shown + "..." : shown;
}

}  // namespace bayloom::graph
