// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <functional>

#include "bayloom/base/result.h"

namespace bayloom {

/// The main function of a program named `app`: reads its arguments, runs, and returns the exit
/// code. Input that is wrong is told in one line.
inline int RunTool(CLI::App& app, int argc, char** argv, const std::function<void()>& run) {
  CLI11_PARSE(app, argc, argv);
  try {
    run();
  } catch (const InputError& error) {
    fmt::print(stderr, "{}: {}\n", app.get_name(), error.what());
    return 2;
  }
  return 0;
}

}  // namespace bayloom
