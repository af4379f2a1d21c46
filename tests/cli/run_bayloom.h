// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

namespace bayloom::cli {

struct Answer {
  int exit_code;
  std::string out;
  std::string error;
};

/// What the command line answers to these arguments.
Answer RunBayloom(std::vector<std::string> arguments);

}  // namespace bayloom::cli
