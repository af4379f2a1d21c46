// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "bayloom/base/result.h"
#include "bayloom/measure/guarded_memory.h"

namespace bayloom::measure {

/// Last words of a runner process, in memory it shares with the tuner. Written by its signal
/// handler, so plain numbers only, and not to be trusted.
struct CrashNote {
  /// What the process was doing.
  enum class Phase : int32_t { kIdle, kPreparing, kLoading, kFirstRun, kTiming };

  Phase phase = Phase::kIdle;
  int32_t signal = 0;          ///< 0: no last words
  int64_t address_space = 0;   ///< bytes mapped when it ended
  int32_t touched = 0;         ///< memory next to the fault: 1 + its place; 0: none
  int64_t touched_offset = 0;  ///< of the fault, in bytes from its start
  int64_t touched_size = 0;    ///< of that memory, bytes
  char touched_name[64] = {};  ///< of that memory
};

/// The page on which the note is written: made by the tuner, mapped by both.
class CrashNotePage {
 public:
  static Result<CrashNotePage> Make();
  /// In the runner, from the descriptor it was given.
  static Result<CrashNotePage> Map(int descriptor);
  CrashNotePage(CrashNotePage&& other) noexcept { *this = std::move(other); }
  CrashNotePage& operator=(CrashNotePage&& other) noexcept;
  ~CrashNotePage();

  int descriptor() const { return descriptor_; }
  CrashNote& note() { return *note_; }

 private:
  CrashNotePage() = default;
  int descriptor_ = -1;
  CrashNote* note_ = nullptr;
};

/// Where and on what a process died, for people: "while being timed: touched memory 4 bytes past
/// the end of 'c'". Empty if the note tells nothing.
std::string Describe(const CrashNote& note);

/// In the runner: from now on fatal signals leave a note before they end the process.
void InstallCrashHandler(CrashNote& note);
/// In the runner: the memory that a fault may be close to. Not copied.
void SetWatchedMemory(std::span<const GuardedMemory* const> memory);

}  // namespace bayloom::measure
