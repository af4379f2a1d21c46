// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// The conversation with a worker, both sides: one JSON object a line.

#include <sstream>
#include <stdexcept>

#include "bayloom/base/read_line.h"
#include "bayloom/remote/messages.h"
#include "tests/fuzz/reader.h"

namespace bayloom::fuzz {

std::vector<std::string> Seeds() {
  return {
      "{\"subject\": 1, \"definition\": {\"kind\": \"scenario\", \"text\": \"x\"}}\n"
      "{\"lease\": 7, \"subject\": 1, \"candidate\": {\"tile\": 8}, \"repeat\": true}\n"
      "{\"measure\": \"machine\"}\n{\"cancel\": true}\n",
      "{\"hello\": \"bayloom-worker\", \"protocol\": 1, \"version\": \"0.2.0\", \"identity\": "
      "\"znver5-2\", \"target\": {}, \"compiles\": false}\n{\"alive\": true}\n"
      "{\"subject\": 1, \"slots\": 4}\n{\"lease\": 7, \"outcome\": {\"verdict\": \"ok\", "
      "\"value\": 1.5e-3, \"values\": {\"spread\": 0.01}}}\n",
      "{\"lease\": 8, \"outcome\": {\"verdict\": \"crash\", \"reason\": \"signal 11\"}}\n"
      "{\"lease\": 9, \"lost\": \"no memory\"}\n{\"machine\": {\"cores\": 2}}\n"
      "{\"error\": \"there is no such kind\", \"subject\": 1}\n"};
}

void Read(const std::string& input) {
  std::istringstream in(input);
  while (const std::optional<base::Line> line = base::ReadLine(in)) {
    // What is accepted says the same when it is written and read again.
    if (const Result<remote::Request> request = remote::ReadRequest(line->text)) {
      const std::string written = remote::ToLine(*request);
      const Result<remote::Request> again = remote::ReadRequest(written);
      if (!again || remote::ToLine(*again) != written) {
        throw std::logic_error("a request changes when it is written: " + written);
      }
    }
    if (const Result<remote::Report> report = remote::ReadReport(line->text)) {
      const std::string written = remote::ToLine(*report);
      const Result<remote::Report> again = remote::ReadReport(written);
      if (!again || remote::ToLine(*again) != written) {
        throw std::logic_error("a report changes when it is written: " + written);
      }
    }
  }
}

std::optional<std::string> MutateStructure(const std::string&, base::RandomStream&) {
  return std::nullopt;
}

}  // namespace bayloom::fuzz
