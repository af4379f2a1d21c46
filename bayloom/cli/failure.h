// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <exception>
#include <string>

namespace bayloom::cli {

/// Exit codes of commands that have failed (docs/errors.md).
inline constexpr int kFailed = 1;
inline constexpr int kBadInput = 2;
inline constexpr int kNotInThisBuild = 3;

/// How a command that has failed ends.
struct Failure {
  int exit_code = 0;
  std::string message;  ///< one line
};

/// What an exception means to the person at the command line.
Failure Explain(const std::exception& error);

/// From now on the process says in one line that memory ran out and exits with kFailed where that
/// cannot be thrown: destructors of the C++ and JSON libraries allocate. Other reasons to end at
/// once stay as they are.
void ExplainLackOfMemory();

}  // namespace bayloom::cli
