// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// The conversation of `serve`: one JSON object a line.

#include <sstream>
#include <stdexcept>

#include "bayloom/base/read_line.h"
#include "bayloom/base/single_line.h"
#include "bayloom/search/line_server.h"
#include "bayloom/search/study.h"
#include "tests/fuzz/reader.h"

namespace bayloom::fuzz {

std::vector<std::string> Seeds() {
  return {
      "{\"ask\": 2}\n{\"tell\": {\"x\": 3, \"y\": 2.5, \"order\": [1, 0, 2]}, \"value\": 8}\n"
      "{\"best\": true}\n",
      "{\"tell\": {\"x\": 1, \"y\": 0.5, \"order\": [0, 1, 2]}, \"feasible\": false, \"reason\": "
      "\"no memory\"}\n{\"ask\": 1}\n",
      "{\"tell\": {\"x\": 4, \"y\": 1, \"order\": \"(2, 1, 0)\"}, \"seconds\": 1e-3}\n"};
}

void Read(const std::string& input) {
  static const search::Scenario kScenario = search::ParseScenario(
      "parameters:\n  x: {type: integer, range: [1, 9]}\n  y: {type: real, range: [0, 4]}\n"
      "  order: {type: permutation, size: 3}\nminimize: seconds\noptimizer: random\n",
      "lines.yaml");
  search::Study study(kScenario, optimizer::MakeOptimizer(kScenario.optimizer, kScenario.space,
                                                          kScenario.optimizer_options));
  search::LineServer server(kScenario, study);
  std::istringstream in(input);
  while (const std::optional<base::Line> line = base::ReadLine(in)) {
    const std::string answer = server.Answer(line->text);
    if (answer.find('\n') != std::string::npos || answer.front() != '{') {
      throw std::logic_error("the answer is not one object on one line: " + answer);
    }
  }
}

std::optional<std::string> MutateStructure(const std::string&, base::RandomStream&) {
  return std::nullopt;
}

}  // namespace bayloom::fuzz
