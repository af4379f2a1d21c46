// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <CLI/Validators.hpp>
#include <cstdlib>
#include <string>

namespace bayloom::cli {

/// Accepts whole numbers from 1 on.
inline CLI::Validator AtLeastOne() {
  return CLI::Validator(
      [](std::string& text) {
        const bool fits = !text.empty() && text.size() <= 9 && text.front() != '0' &&
                          text.find_first_not_of("0123456789") == std::string::npos;
        return fits ? std::string() : "'" + text + "' is no whole number from 1 to 999999999";
      },
      "", "at least one");
}

}  // namespace bayloom::cli
