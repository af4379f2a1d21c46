// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>

namespace bayloom::measure {

/// The hidden first argument that makes a program a runner process.
inline constexpr const char kRunnerCommand[] = "_runner";

/// To be the first line of `main` in every program that measures:
///
///     if (std::optional<int> code = RunAsRunner(argc, argv)) return *code;
///
/// Serves as a runner process if the program was started as one, and gives its exit code. Else
/// the program may from now on be started again as its own runner.
std::optional<int> RunAsRunner(int argc, char** argv);

/// The program to start runner processes from: `chosen` if not empty; else what the environment
/// variable BAYLOOM_RUNNER names; else this program, if its main calls RunAsRunner. Throws
/// InputError if there is none.
std::string RunnerExecutable(const std::string& chosen);

}  // namespace bayloom::measure
