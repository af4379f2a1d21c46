#pragma once

#include <string>
#include <vector>

namespace bayloom {

struct Answer {
  int exit_code;
  std::string out;
  std::string error;
};

/// What the command line answers to these arguments.
Answer RunBayloom(std::vector<std::string> arguments);

}  // namespace bayloom
