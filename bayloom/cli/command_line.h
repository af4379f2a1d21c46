// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace bayloom::cli {

/// The `bayloom` program: runs the subcommand that the arguments name and returns the process's
/// exit code: 0; 1 when a check failed or something broke; 2 when the input cannot be used. What
/// was wrong is said in one line on standard error.
int RunCommandLine(int argc, char** argv);

}  // namespace bayloom::cli
