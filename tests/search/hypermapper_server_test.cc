// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/search/hypermapper_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <sstream>

#include "bayloom/base/result.h"
#include "tests/trial/list_store.h"

namespace bayloom::search {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kScenario = R"({
  "application_name": "theirs", "hypermapper_mode": {"mode": "client-server"},
  "optimization_objectives": ["runtime"], "optimization_iterations": 3,
  "design_of_experiment": {"number_of_samples": 2},
  "feasible_output": {"enable_feasible_predictor": true, "name": "Works", "true_value": "yes"},
  "input_parameters": {
    "tile": {"parameter_type": "ordinal", "values": [4, 8, 16, 32], "parameter_default": 8},
    "order": {"parameter_type": "permutation", "values": [3], "parametrization": "spearman",
              "parameter_default": [0, 1, 2]},
    "word": {"parameter_type": "categorical", "values": ["a", "b"], "parameter_default": "a"}
  }})";

/// A study whose trials are kept.
struct Theirs {
  Theirs()
      : scenario(ParseScenario(kScenario, "theirs.json")),
        study(scenario,
              optimizer::MakeOptimizer(scenario.optimizer, scenario.space,
                                       scenario.optimizer_options),
              &store) {}

  /// What the server says to these answers, all given at once.
  std::string Serve(const std::string& answers) {
    std::istringstream in(answers);
    std::ostringstream out;
    HyperMapperServer(scenario, study).Run(in, out);
    return out.str();
  }

  Scenario scenario;
  trial::ListStore store;
  const std::vector<trial::TrialRecord>& trials = store.trials;
  Study study;
};

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(HyperMapperServer, IgnoresARowWithoutItsEnd) {
  Theirs theirs;
  const std::string header = "Works,runtime\n";
  theirs.Serve(header + "yes,1.5\nyes,12");  // the client died within 1234
  ASSERT_EQ(theirs.trials.size(), 1u);
  EXPECT_EQ(theirs.trials[0].outcome.value, 1.5);
}

TEST(HyperMapperServer, SpeaksAsHyperMapperDoes) {
  Theirs theirs;
  const std::string header = "Works, runtime ,tile,order,word\n";
  const std::string said = theirs.Serve(header + "yes,1.5,8,(0, 1, 2),a\nno,0,4,(2, 1, 0),b\n" +
                                        header + "yes,2.5e-1,4,(0, 2, 1),b\r\n" +  //
                                        "Works,runtime\nyes,nan\n" + "runtime,Works\n7,yes\n");
  const std::vector<std::string> lines = Lines(said);
  ASSERT_EQ(lines.size(), 4u + 3 + 3 + 3 + 1);
  EXPECT_EQ(lines[0], "Request 2");
  EXPECT_EQ(lines[1], "tile,order,word");
  EXPECT_EQ(lines[2], "8,(0, 1, 2),a");  // the default comes first
  EXPECT_EQ(lines[4], "Request 1");
  EXPECT_EQ(lines[7], "Request 1");
  EXPECT_EQ(lines.back(), "End of HyperMapper");
  std::vector<bool> ok;
  for (const trial::TrialRecord& trial : theirs.trials) ok.push_back(trial.outcome.ok());
  EXPECT_THAT(ok, ElementsAre(true, false, true, false, true));
  EXPECT_EQ(theirs.trials[2].outcome.value, 0.25);
  EXPECT_THAT(theirs.trials[3].outcome.reason, HasSubstr("nan"));
  EXPECT_EQ(theirs.trials[3].outcome.verdict, trial::Verdict::kInvalidAnswer);
  EXPECT_EQ(theirs.study.best()->ordinal, 2);
}

TEST(HyperMapperServer, KeepsWhatWasAnsweredWhenTheClientGoes) {
  Theirs theirs;
  EXPECT_THAT(theirs.Serve("runtime,Works\n3,yes\n"), testing::Not(HasSubstr("End")));
  EXPECT_EQ(theirs.trials.size(), 1u);
  EXPECT_EQ(Lines(theirs.Serve("")).size(), 3u);  // and asks for the rest
}

TEST(HyperMapperServer, RefusesAnswersWithoutTheObjective) {
  for (const char* answer :
       {"tile,Works\n8,yes\n", "Works,runtime\nyes\n", "\n\n", "a\xff,)((\n,\n"}) {
    Theirs theirs;
    EXPECT_THROW(theirs.Serve(answer), InputError) << answer;
    EXPECT_TRUE(theirs.trials.empty());
  }
}

}  // namespace
}  // namespace bayloom::search
