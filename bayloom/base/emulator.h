// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

namespace bayloom::base {

/// A program that runs this process for another processor than the machine has, such as QEMU's user
/// mode. It hides itself from the process, but not from the process's threads in /proc.
struct Emulator {
  /// What comes before a program on its command line: {"/usr/bin/qemu-aarch64", "-L",
  /// "/usr/aarch64-linux-gnu"}. Empty where the system starts the emulator by itself (binfmt_misc)
  /// and its program cannot be seen from here.
  std::vector<std::string> command;
  std::string program;  ///< path of the program that this process runs
};

/// The emulator of this process; null where the machine's processor runs it. An emulator of a
/// whole machine is not seen.
const Emulator* EmulatorOfThisProcess();

}  // namespace bayloom::base
