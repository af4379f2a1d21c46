// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/run_bayloom.h"
#include "tests/temporary_folder.h"

namespace bayloom::cli {
namespace {

using testing::HasSubstr;

class SearchCommand : public testing::Test {
 protected:
  std::string File(const std::string& name) const { return folder_ / name; }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(File(name)) << text;
    return File(name);
  }
  std::string Read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(File(name)).rdbuf();
    return text.str();
  }

  TemporaryFolder folder_;
};

constexpr const char* kScenario =
    "name: hill\n"
    "parameters:\n"
    "  x: {type: integer, range: [0, 9]}\n"
    "  word: {type: categorical, values: [one, 'two, three']}\n"
    "maximize: height\n"
    "evaluator: {shell: 'test {x} != 4 || { echo no four >&2; exit 7; }; echo $((20 - {x}))'}\n"
    "optimizer: random\n";

TEST_F(SearchCommand, FindsExportsAndResumes) {
  // Braces that are no holes are doubled.
  std::string text = kScenario;
  text.replace(text.find("{ echo"), 1, "{{");
  text.replace(text.find("; }"), 3, "; }}");
  const std::string scenario = Write("hill.yaml", text);
  const std::string database = File("hill.db");
  const Answer first = RunBayloom({"search", scenario, "--db", database, "--trials", "8"});
  ASSERT_EQ(first.exit_code, 0) << first.error;
  EXPECT_THAT(first.out, HasSubstr("8 trials"));
  EXPECT_THAT(first.out, HasSubstr("height = "));

  const Answer second =
      RunBayloom({"search", scenario, "--db", database, "--resume", "--trials", "100", "--jobs",
                  "2", "--json", "--out", File("best.json"), "--csv", File("trials.csv")});
  ASSERT_EQ(second.exit_code, 0) << second.error;
  EXPECT_THAT(second.error, HasSubstr("Resuming"));
  const auto summary = nlohmann::json::parse(second.out);
  EXPECT_EQ(summary["trials"], 20);  // all there are
  EXPECT_EQ(summary["feasible_trials"], 18);
  EXPECT_EQ(summary["best"]["value"], 20);
  EXPECT_EQ(summary["best"]["configuration"]["x"], 0);
  EXPECT_EQ(nlohmann::json::parse(Read("best.json"))["best"], summary["best"]);
  const std::string csv = Read("trials.csv");
  EXPECT_THAT(csv, HasSubstr("trial,x,word,height,verdict,reason,elapsed\r\n"));
  EXPECT_THAT(csv, HasSubstr("\"two, three\""));
  EXPECT_THAT(csv, HasSubstr("exit code 7: no four"));
}

TEST_F(SearchCommand, EvaluatesTheBestAgainAndSaysWhatToTypeNext) {
  const std::string scenario = Write("hill.yaml",
                                     "name: hill\nparameters: {x: {type: integer, range: [0, 9]}}\n"
                                     "minimize: cost\noptimizer: random\n"
                                     "evaluator: {shell: 'echo {x}'}\n");
  const std::string database = File("it's hill.db");
  const Answer first = RunBayloom({"search", scenario, "--db", database, "--trials", "8"});
  ASSERT_EQ(first.exit_code, 0) << first.error;
  EXPECT_THAT(first.out, HasSubstr("\n  bayloom search " + scenario + " --db '" + File("it'\\''s") +
                                   " hill.db' --resume --trials 16 "));
  EXPECT_THAT(first.out, HasSubstr(" --resume --trials 8 --repeat-best 5 "));
  EXPECT_THAT(first.out, HasSubstr("\n  bayloom report '"));

  const Answer again = RunBayloom({"search", scenario, "--db", database, "--resume", "--trials",
                                   "8", "--repeat-best", "2", "--rounds", "4", "--json"});
  ASSERT_EQ(again.exit_code, 0) << again.error;
  const auto summary = nlohmann::json::parse(again.out);
  ASSERT_EQ(summary["repeated"].size(), 2u);
  EXPECT_EQ(summary["repeated"][0]["values"].size(), 4u);
  EXPECT_EQ(summary["repeated"][0]["median"], summary["best"]["value"]);
  EXPECT_EQ(summary["trials"], 8);
}

TEST_F(SearchCommand, IsShownAndExported) {
  const std::string scenario =
      Write("s.yaml",
            "name: s\nparameters:\n  x: {type: integer, range: [1, 6]}\n"
            "  order: {type: permutation, size: 2}\nminimize: cost\noptimizer: random\n"
            "evaluator: {shell: 'test {x} != 4 && echo $(({x} * 2)) || exit 3'}\n");
  const std::string database = File("s.db");
  ASSERT_EQ(RunBayloom({"search", scenario, "--db", database}).exit_code, 0);

  EXPECT_THAT(RunBayloom({"show", database}).out,
              testing::AllOf(HasSubstr("search"), HasSubstr("random"), HasSubstr("finished"),
                             testing::Not(HasSubstr("session"))));
  const Answer shown = RunBayloom({"show", database, "--run", "1", "--history"});
  ASSERT_EQ(shown.exit_code, 0) << shown.error;
  EXPECT_THAT(shown.out, HasSubstr("12 trials; without a value: 2 crash"));
  EXPECT_THAT(shown.out, HasSubstr("cost = 2"));
  EXPECT_THAT(shown.out, HasSubstr(R"("x":1)"));
  const Answer json = RunBayloom({"show", database, "--run", "1", "--json"});
  const auto parsed = nlohmann::json::parse(json.out);
  EXPECT_EQ(parsed["best"]["configuration"]["x"], 1);
  EXPECT_EQ(parsed["failures"]["crash"], 2);
  EXPECT_EQ(parsed["history"].back()["cost"], 2.0);

  const Answer csv = RunBayloom({"records", "export", database, "--run", "1"});
  EXPECT_THAT(csv.out, HasSubstr("trial,x,order,cost,verdict,reason,elapsed\r\n"));
  EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 13);

  // A search that tried everything is a recorded space.
  const std::string t4 = File("s_T4.json");
  ASSERT_EQ(RunBayloom({"records", "export", database, "--run", "1", "--format", "t4", "--out", t4})
                .exit_code,
            0);
  const Answer again = RunBayloom({"search", scenario, "--recorded", t4, "--db", File("a.db"),
                                   "--json", "--optimizer", "genetic"});
  ASSERT_EQ(again.exit_code, 0) << again.error;
  EXPECT_EQ(nlohmann::json::parse(again.out)["best"]["value"], 2);
  EXPECT_EQ(nlohmann::json::parse(again.out)["feasible_trials"], 10);

  // Whole databases travel as lines of JSON.
  ASSERT_EQ(RunBayloom({"records", "export", database, "--out", File("s.jsonl")}).exit_code, 0);
  EXPECT_THAT(RunBayloom({"records", "import", File("b.db"), File("s.jsonl")}).out,
              HasSubstr("12 new trials"));
  EXPECT_EQ(RunBayloom({"show", File("b.db"), "--run", "1", "--json"}).out, json.out);
  EXPECT_EQ(RunBayloom({"show", database, "--run", "7"}).exit_code, 2);
  EXPECT_EQ(RunBayloom({"show", database, "--run", "1", "--task", "1"}).exit_code, 2);
  EXPECT_EQ(RunBayloom({"records", "export", database, "--format", "t4"}).exit_code, 2);
}

TEST_F(SearchCommand, TakesOthersFilesWithACommand) {
  const std::string scenario = Write("h.json", R"({
    "application_name": "theirs", "optimization_objectives": ["runtime"],
    "optimization_iterations": 4, "design_of_experiment": {"number_of_samples": 2},
    "input_parameters": {"x": {"parameter_type": "integer", "values": [1, 20]}}})");
  const Answer answer = RunBayloom({"search", scenario, "--db", File("h.db"), "--command",
                                    "echo {x}", "--json", "--optimizer", "genetic"});
  ASSERT_EQ(answer.exit_code, 0) << answer.error;
  EXPECT_EQ(nlohmann::json::parse(answer.out)["trials"], 6);
}

TEST_F(SearchCommand, EvaluatesCheaplyFirstAndReportsTheLastFidelityOnly) {
  const std::string scenario =
      Write("sizes.yaml",
            "name: sizes\n"
            "parameters:\n"
            "  x: {type: integer, range: [0, 30]}\n"
            "  y: {type: integer, range: [0, 30]}\n"
            "fidelity: {parameter: size, values: [1, 100]}\n"
            "minimize: cost\n"
            "evaluator: {shell: 'echo $(( {size} * (100 + ({x} - 7) * ({x} - 7) + {y}) ))'}\n");
  const std::string database = File("sizes.db");
  const Answer first = RunBayloom({"search", scenario, "--db", database, "--trials", "20"});
  ASSERT_EQ(first.exit_code, 0) << first.error;
  const Answer second = RunBayloom({"search", scenario, "--db", database, "--resume", "--trials",
                                    "30", "--json", "--csv", File("trials.csv")});
  ASSERT_EQ(second.exit_code, 0) << second.error;
  const auto summary = nlohmann::json::parse(second.out);
  EXPECT_EQ(summary["trials"], 30);
  EXPECT_EQ(summary["best"]["configuration"]["size"], 100);
  EXPECT_GE(summary["best"]["value"], 10000);
  const std::string csv = Read("trials.csv");
  EXPECT_THAT(csv, HasSubstr("trial,x,y,size,cost,verdict,reason,elapsed\r\n"));
  EXPECT_THAT(csv, HasSubstr(",1,1"));
  const Answer shown = RunBayloom({"show", database, "--run", "1", "--history", "--json"});
  ASSERT_EQ(shown.exit_code, 0) << shown.error;
  const auto run = nlohmann::json::parse(shown.out);
  EXPECT_EQ(run["best"]["value"], summary["best"]["value"]);
  ASSERT_FALSE(run["history"].empty());
  for (const auto& improvement : run["history"]) {
    const std::string configuration = improvement["configuration"];
    EXPECT_EQ(nlohmann::json::parse(configuration)["size"], 100);
  }
}

TEST_F(SearchCommand, FailsWhenNothingWorks) {
  const std::string scenario = Write(
      "f.yaml", "parameters: {x: {type: integer, range: [1, 4]}}\nevaluator: {command: 'false'}\n");
  const Answer answer = RunBayloom({"search", scenario, "--db", File("f.db")});
  EXPECT_EQ(answer.exit_code, 1);
  EXPECT_THAT(answer.error, HasSubstr("none of 4 trials has a value"));
  EXPECT_THAT(answer.error, HasSubstr("exit code 1"));
}

TEST_F(SearchCommand, StopsWhereTheFirstTrialsAllFailAlikeAndCanBeResumed) {
  const std::string scenario = Write("f.yaml",
                                     "parameters: {x: {type: integer, range: [1, 90]}}\n"
                                     "evaluator: {shell: 'echo it took {x} ms'}\n");
  const auto search = [&](std::vector<std::string> more) {
    std::vector<std::string> line = {"search", scenario, "--db", File("f.db"), "--trials", "20"};
    line.insert(line.end(), more.begin(), more.end());
    return RunBayloom(line);
  };
  const Answer stopped = search({});
  EXPECT_EQ(stopped.exit_code, 1);
  EXPECT_THAT(stopped.error, HasSubstr("the first 12 all failed alike"));
  EXPECT_THAT(stopped.error, HasSubstr("'answer: {pattern: ...}'"));
  EXPECT_THAT(search({"--resume"}).error, HasSubstr("none of 20 trials has a value"));
}

TEST_F(SearchCommand, AnswersBadInputInOneLine) {
  const std::string good = Write("good.yaml", "parameters: {x: {type: integer, range: [1, 4]}}\n");
  const std::string bad = Write("bad.yaml", "parameters: {x: {type: integr, range: [1, 4]}}\n");
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"search"},
           {"search", "/nonexistent.yaml"},
           {"search", folder_.path()},
           {"search", bad},
           {"search", good},  // no evaluator
           {"search", good, "--command", "run {y}"},
           {"search", good, "--command", "run '{x}"},
           {"search", good, "--recorded", "/nonexistent.json.gz"},
           {"search", good, "--command", "run", "--recorded", "file"},
           {"search", good, "--command", "echo 1", "--jobs", "0"},
           {"search", good, "--command", "echo 1", "--optimizer", "magic"},
           {"search", good, "--command", "echo 1", "--time", "soon"},
           {"search", good, "--command", "echo 1", "--db", "/nonexistent/folder/a.db"},
           {"serve", bad},
       }) {
    const Answer answer = RunBayloom(arguments);
    EXPECT_EQ(answer.exit_code, 2);
    EXPECT_EQ(answer.out, "");
    EXPECT_THAT(answer.error, testing::StartsWith("bayloom: "));
    EXPECT_EQ(answer.error.find('\n'), answer.error.size() - 1) << answer.error;
    EXPECT_FALSE(std::filesystem::exists("good.db")) << answer.error;
  }
}

TEST_F(SearchCommand, LearnsFromEarlierSearches) {
  const auto search = [&](const std::string& size, std::vector<std::string> more) {
    const std::string percent_off = "({x} * 100 / " + size + " - 30)";
    const std::string scenario = Write(
        "size" + size + ".yaml",
        "name: size" + size + "\nparameters: {x: {type: integer, range: [1, " + size +
            "]}}\ntask: {size: " + size + "}\nminimize: seconds\nevaluator: {shell: 'echo $((" +
            percent_off + " * " + percent_off + "))'}\n");
    std::vector<std::string> arguments = {"search", scenario, "--json", "--trials"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunBayloom(arguments);
  };
  const std::string database = File("sizes.db");
  for (const char* size : {"200", "400"}) {
    EXPECT_EQ(search(size, {"12", "--db", database}).exit_code, 0);
  }
  const Answer answer = search("800", {"1", "--db", File("other.db"), "--learn-from", database});
  ASSERT_EQ(answer.exit_code, 0) << answer.error;
  EXPECT_LT(nlohmann::json::parse(answer.out)["best"]["value"], 200);
  EXPECT_THAT(answer.error, testing::HasSubstr("Learns from size200 (12 values), size400"));
  EXPECT_EQ(search("800", {"1", "--learn-from", database, "--optimizer", "random"}).exit_code, 2);
  EXPECT_EQ(search("800", {"1", "--learn-from", database, "--transfer-method", "magic"}).exit_code,
            2);
  EXPECT_EQ(search("800", {"1", "--learn-from", File("none.db")}).exit_code, 2);
  EXPECT_EQ(search("800", {"1", "--learn-from", "store"}).exit_code, 2);
  const Answer alone = search("800", {"1", "--db", File("new.db"), "--learn-from", "earlier"});
  EXPECT_EQ(alone.exit_code, 0) << alone.error;
  EXPECT_THAT(alone.error, testing::HasSubstr("Learns from nothing"));
  const Answer own = search("800", {"1", "--db", database, "--learn-from", "earlier"});
  EXPECT_THAT(own.error, testing::HasSubstr("Learns from size200 (12 values), size400"));
}

TEST_F(SearchCommand, SearchesScenariosTogether) {
  const auto scenario = [&](const std::string& name, const std::string& goal) {
    return Write(name + ".yaml", "name: " + name +
                                     "\nparameters: {x: {type: integer, range: [1, 99]}}\n" + goal +
                                     "\nevaluator: {shell: 'echo {x}'}\noptimizer: random\n");
  };
  const std::string least = scenario("least", "minimize: seconds");
  const std::string most = scenario("most", "maximize: speed");
  const std::vector<std::string> command = {"search", "--weights", "1,2",        least,
                                            most,     "--db",      File("a.db"), "--batch",
                                            "4",      "--json",    "--resume",   "--trials"};
  const auto with_trials = [&](const std::string& trials) {
    std::vector<std::string> whole = command;
    whole.push_back(trials);
    return RunBayloom(whole);
  };
  const Answer first = with_trials("20");
  ASSERT_EQ(first.exit_code, 0) << first.error;
  const nlohmann::json shown = nlohmann::json::parse(first.out);
  EXPECT_EQ(shown["scheduler"], "expected-improvement");
  EXPECT_EQ(shown["slots"].size(), 5u);
  EXPECT_EQ(shown["scenarios"][1]["weight"], 2);
  const auto trials = [](const nlohmann::json& json) {
    return json["scenarios"][0]["trials"].get<int>() + json["scenarios"][1]["trials"].get<int>();
  };
  EXPECT_EQ(trials(shown), 20);
  const Answer second = with_trials("30");
  ASSERT_EQ(second.exit_code, 0) << second.error;
  EXPECT_EQ(trials(nlohmann::json::parse(second.out)), 30);
  EXPECT_EQ(nlohmann::json::parse(second.out)["slots"].size(), 3u);

  EXPECT_EQ(RunBayloom({"search", least, least}).exit_code, 2);
  EXPECT_EQ(RunBayloom({"search", least, most, "--csv", File("a.csv")}).exit_code, 2);
  EXPECT_EQ(RunBayloom({"search", least, most, "--weights", "1"}).exit_code, 2);
}

constexpr const char* kTwoObjectives =
    "name: two\n"
    "parameters:\n"
    "  x: {type: integer, range: [0, 9]}\n"
    "  y: {type: integer, range: [0, 3]}\n"
    "minimize: cost\n"
    "maximize: gain\n"
    "evaluator: {shell: 'echo {{\\\"cost\\\": $(({x} + {y})), \\\"gain\\\": {x}}}'}\n"
    "optimizer: bayesian\n";

TEST_F(SearchCommand, SeveralObjectivesGiveAParetoFront) {
  const std::string scenario = Write("two.yaml", kTwoObjectives);
  const std::string database = File("two.db");
  const Answer half =
      RunBayloom({"search", scenario, "--db", database, "--trials", "15", "--json"});
  ASSERT_EQ(half.exit_code, 0) << half.error;
  const Answer whole = RunBayloom({"search", scenario, "--db", database, "--trials", "40",
                                   "--resume", "--json", "--csv", File("two.csv")});
  ASSERT_EQ(whole.exit_code, 0) << whole.error;
  // All 40 configurations: the front is where y = 0.
  const nlohmann::json found = nlohmann::json::parse(whole.out);
  ASSERT_EQ(found.at("front").size(), 10U) << whole.out;
  for (int x = 0; x < 10; ++x) {
    EXPECT_EQ(found["front"][x]["values"], (nlohmann::json{{"cost", x}, {"gain", x}}));
    EXPECT_EQ(found["front"][x]["configuration"], (nlohmann::json{{"x", x}, {"y", 0}}));
  }
  EXPECT_THAT(Read("two.csv"), HasSubstr("trial,x,y,cost,gain,verdict,reason,elapsed\r\n"));

  const Answer shown = RunBayloom({"show", database, "--run", "1", "--json"});
  ASSERT_EQ(shown.exit_code, 0) << shown.error;
  EXPECT_EQ(nlohmann::json::parse(shown.out).at("front"), found["front"]);
  EXPECT_THAT(RunBayloom({"show", database, "--run", "1"}).out,
              HasSubstr("Pareto front, 10 trials"));

  // The records round-trip, and as a recorded space they have both measurements.
  ASSERT_EQ(RunBayloom({"records", "export", database, "--out", File("two.jsonl")}).exit_code, 0);
  ASSERT_EQ(RunBayloom({"records", "import", File("copy.db"), File("two.jsonl")}).exit_code, 0);
  const Answer copied = RunBayloom({"show", File("copy.db"), "--run", "1", "--json"});
  EXPECT_EQ(nlohmann::json::parse(copied.out).at("front"), found["front"]) << copied.error;
  ASSERT_EQ(RunBayloom({"records", "export", database, "--run", "1", "--format", "t4", "--out",
                        File("two_T4.json")})
                .exit_code,
            0);
  const Answer recorded =
      RunBayloom({"search", scenario, "--recorded", File("two_T4.json"), "--optimizer", "genetic",
                  "--db", File("recorded.db"), "--trials", "40", "--json"});
  ASSERT_EQ(recorded.exit_code, 0) << recorded.error;
  EXPECT_EQ(nlohmann::json::parse(recorded.out).at("front").size(), 10U);
}

TEST_F(SearchCommand, RefusesWhatNeedsOneObjective) {
  const std::string scenario = Write("two.yaml", kTwoObjectives);
  const std::string database = File("two.db");
  EXPECT_THAT(RunBayloom({"search", scenario, "--db", database, "--repeat-best", "3"}).error,
              HasSubstr("has several objectives"));
  EXPECT_THAT(RunBayloom({"search", scenario, "--db", database, "--until-value", "3"}).error,
              HasSubstr("--until-value: 1 given, for 2 objectives"));
  ASSERT_EQ(RunBayloom({"search", scenario, "--db", database, "--trials", "2"}).exit_code, 0);
  const std::string one = Write("one.yaml",
                                "name: two\n"
                                "parameters:\n"
                                "  x: {type: integer, range: [0, 9]}\n"
                                "  y: {type: integer, range: [0, 3]}\n"
                                "minimize: cost\n"
                                "evaluator: {command: 'echo {x}'}\n");
  EXPECT_THAT(RunBayloom({"search", one, "--db", database, "--resume"}).error,
              HasSubstr("cannot resume the search"));
}

TEST_F(SearchCommand, StopsAtATargetAndOnAPlateau) {
  const std::string scenario =
      Write("line.yaml",
            "parameters: {x: {type: integer, range: [0, 9999], default: 7}}\n"
            "evaluator: {command: 'echo {x}'}\noptimizer: random\n");
  const Answer reached = RunBayloom(
      {"search", scenario, "--db", File("a.db"), "--until-value", "8", "--trials", "90", "--json"});
  ASSERT_EQ(reached.exit_code, 0) << reached.error;
  EXPECT_EQ(nlohmann::json::parse(reached.out).at("end"), "target");
  EXPECT_EQ(nlohmann::json::parse(reached.out).at("trials"), 1);
  const Answer flat = RunBayloom({"search", scenario, "--db", File("b.db"), "--until-plateau", "5",
                                  "--plateau-gain", "90", "--trials", "90", "--json"});
  ASSERT_EQ(flat.exit_code, 0) << flat.error;
  EXPECT_EQ(nlohmann::json::parse(flat.out).at("end"), "converged");
  EXPECT_EQ(nlohmann::json::parse(flat.out).at("trials"), 6);
}

}  // namespace
}  // namespace bayloom::cli
