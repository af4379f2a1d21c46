// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// What evaluators print.

#include "bayloom/trial/answer.h"
#include "tests/fuzz/reader.h"

namespace bayloom::fuzz {

std::vector<std::string> Seeds() {
  return {"3.25\n", "compiling ...\nrunning ...\ntime: 1.5 ms\n{\"seconds\": 3.25}\n",
          "{\"time\": {\"median\": 1e-3, \"all\": [1, 2, 3]}, \"seconds\": 2}",
          "{\"feasible\": false, \"reason\": \"out of\\nmemory\"}"};
}

void Read(const std::string& input) {
  for (const trial::AnswerFormat& format :
       {trial::AnswerFormat{.fields = {"seconds"}, .pattern = ""},
        trial::AnswerFormat{.fields = {"time.median"}, .pattern = ""},
        trial::AnswerFormat{.pattern = "time: ([0-9.e+-]+) ms"}}) {
    const trial::Outcome outcome = trial::ParseAnswer(input, format);
    if (!outcome.ok() && outcome.reason.size() > 1000) throw InputError(outcome.reason);
  }
}

std::optional<std::string> MutateStructure(const std::string&, base::RandomStream&) {
  return std::nullopt;
}

}  // namespace bayloom::fuzz
