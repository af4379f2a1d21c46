// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/crash_note.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace bayloom::measure {
namespace {

constexpr int kMaxWatched = 64;

// What the signal handler may look at.
CrashNote* the_note = nullptr;
std::array<const GuardedMemory*, kMaxWatched> watched = {};
int watched_count = 0;

/// Pages mapped by this process, from the first number of /proc/self/statm.
int64_t AddressSpaceBytes() {
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[32] = {};
  const ssize_t length = read(file, text, sizeof(text) - 1);
  close(file);
  int64_t pages = 0;
  for (ssize_t i = 0; i < length && text[i] >= '0' && text[i] <= '9'; ++i) {
    pages = pages * 10 + (text[i] - '0');
  }
  return pages * sysconf(_SC_PAGESIZE);
}

void NoteFaultAddress(const void* address) {
  const auto* fault = static_cast<const std::byte*>(address);
  for (int i = 0; i < watched_count; ++i) {
    const std::span<const std::byte> mapping = watched[i]->mapping();
    if (fault < mapping.data() || fault >= mapping.data() + mapping.size()) continue;
    the_note->touched = 1;
    the_note->touched_offset = fault - watched[i]->data();
    the_note->touched_size = watched[i]->size();
    std::strncpy(the_note->touched_name, watched[i]->name().c_str(),
                 sizeof(the_note->touched_name) - 1);
  }
}

extern "C" void HandleFatalSignal(int signal_number, siginfo_t* info, void*) {
  the_note->address_space = AddressSpaceBytes();
  if (signal_number == SIGSEGV || signal_number == SIGBUS) NoteFaultAddress(info->si_addr);
  the_note->signal = signal_number;
  // The default action ends the process when the handler returns to the faulting instruction, or
  // with this.
  std::signal(signal_number, SIG_DFL);
  raise(signal_number);
}

const char* Describe(CrashNote::Phase phase) {
  switch (phase) {
    case CrashNote::Phase::kPreparing:
      return "while its data was prepared";
    case CrashNote::Phase::kLoading:
      return "while it was loaded";
    case CrashNote::Phase::kFirstRun:
      return "in its first run";
    case CrashNote::Phase::kTiming:
      return "while it was timed";
    default:
      return "";
  }
}

}  // namespace

Result<CrashNotePage> CrashNotePage::Make() {
  CrashNotePage page;
  page.descriptor_ = memfd_create("bayloom-crash-note", MFD_CLOEXEC);
  if (page.descriptor_ < 0 || ftruncate(page.descriptor_, sizeof(CrashNote)) != 0) {
    return Error{fmt::format("cannot make shared memory: {}", std::strerror(errno))};
  }
  Result<CrashNotePage> mapped = Map(page.descriptor_);
  page.descriptor_ = -1;
  if (mapped) mapped->note() = CrashNote();
  return mapped;
}

Result<CrashNotePage> CrashNotePage::Map(int descriptor) {
  CrashNotePage page;
  page.descriptor_ = descriptor;
  void* memory =
      mmap(nullptr, sizeof(CrashNote), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) {
    return Error{fmt::format("cannot map shared memory: {}", std::strerror(errno))};
  }
  page.note_ = static_cast<CrashNote*>(memory);
  return page;
}

CrashNotePage& CrashNotePage::operator=(CrashNotePage&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(note_, other.note_);
  return *this;
}

CrashNotePage::~CrashNotePage() {
  if (note_) munmap(note_, sizeof(CrashNote));
  if (descriptor_ >= 0) close(descriptor_);
}

std::string Describe(const CrashNote& note) {
  std::string text = Describe(note.phase);
  if (note.touched == 0) return text;
  const std::string name(note.touched_name, strnlen(note.touched_name, sizeof(note.touched_name)));
  const int64_t offset = note.touched_offset;
  if (offset < 0) {
    text += fmt::format(": touched memory {} bytes before the start of {}", -offset, name);
  } else if (offset >= note.touched_size) {
    text += fmt::format(": touched memory {} bytes past the end of {}",
                        offset - note.touched_size + 1, name);
  } else {
    text += fmt::format(": wrote to {}, which it may only read", name);
  }
  return text;
}

void InstallCrashHandler(CrashNote& note) {
  the_note = &note;
  // A stack of its own, for when the ordinary one has overflowed.
  static std::array<std::byte, 64 << 10> stack;
  stack_t alternative = {};
  alternative.ss_sp = stack.data();
  alternative.ss_size = stack.size();
  sigaltstack(&alternative, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = HandleFatalSignal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (int signal_number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    sigaction(signal_number, &action, nullptr);
  }
}

void SetWatchedMemory(std::span<const GuardedMemory* const> memory) {
  watched_count = static_cast<int>(std::min<size_t>(memory.size(), kMaxWatched));
  std::copy_n(memory.begin(), watched_count, watched.begin());
}

}  // namespace bayloom::measure
