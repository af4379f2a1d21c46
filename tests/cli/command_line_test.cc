#include "bayloom/cli/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bayloom {
namespace {

using testing::HasSubstr;

struct Answer {
  int exit_code;
  std::string out;
  std::string error;
};

Answer RunBayloom(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "bayloom");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int exit_code = RunCommandLine(static_cast<int>(argv.size()), argv.data());
  const std::string out = testing::internal::GetCapturedStdout();
  return {exit_code, out, testing::internal::GetCapturedStderr()};
}

TEST(CommandLine, HelpsWithExamples) {
  const Answer answer = RunBayloom({"--help"});
  EXPECT_EQ(answer.exit_code, 0);
  EXPECT_THAT(answer.out, HasSubstr("Examples:"));
  EXPECT_EQ(answer.error, "");
}

TEST(CommandLine, AnswersBadInputInOneLineWithCodeTwo) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {},
           {"weave"},
           {"records"},
           {"records", "export"},
           {"records", "export", "/nonexistent/tuning.db"},
           {"records", "import", "/nonexistent/tuning.db", "also-not-there.jsonl"},
       }) {
    const Answer answer = RunBayloom(arguments);
    EXPECT_EQ(answer.exit_code, 2);
    EXPECT_EQ(answer.out, "");
    EXPECT_THAT(answer.error, testing::StartsWith("bayloom: "));
    EXPECT_EQ(answer.error.find('\n'), answer.error.size() - 1) << answer.error;
  }
}

}  // namespace
}  // namespace bayloom
