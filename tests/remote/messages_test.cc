// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/remote/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace bayloom::remote {
namespace {

using testing::HasSubstr;

TEST(WorkerMessages, RequestsComeBackAsTheyWere) {
  Request trial{Request::Kind::kTrial, 3, 41, {{"x", 1}}, true};
  const std::string line = ToLine(trial);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const Result<Request> read = ReadRequest(line);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->kind, trial.kind);
  EXPECT_EQ(read->subject, 3);
  EXPECT_EQ(read->lease, 41);
  EXPECT_EQ(read->body, trial.body);
  EXPECT_TRUE(read->is_repeat);
  for (const Request::Kind kind :
       {Request::Kind::kSubject, Request::Kind::kCancel, Request::Kind::kMachine}) {
    const Result<Request> other = ReadRequest(ToLine(Request{kind, 2, 0, "text", false}));
    ASSERT_TRUE(other);
    EXPECT_EQ(other->kind, kind);
  }
}

TEST(WorkerMessages, GreetingsSayWhoCompiles) {
  Report hello;
  hello.kind = Report::Kind::kHello;
  hello.version = "1";
  hello.identity = "board";
  for (const bool compiles : {true, false}) {
    hello.compiles = compiles;
    const Result<Report> read = ReadReport(ToLine(hello));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->compiles, compiles);
  }
  EXPECT_FALSE(ReadReport(
      R"({"hello": "bayloom-worker", "protocol": 1, "version": "1", "identity": "", "compiles": 1})"));
}

TEST(WorkerMessages, OutcomesComeBackAsTheyWere) {
  Report report;
  report.kind = Report::Kind::kOutcome;
  report.lease = 8;
  report.outcome = trial::Outcome::Feasible(0.1 + 0.2);
  report.outcome.Set("spread", 1e-300);
  Result<Report> read = ReadReport(ToLine(report));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->lease, 8);
  EXPECT_EQ(read->outcome.value, 0.1 + 0.2);
  EXPECT_EQ(read->outcome.values, report.outcome.values);

  report.outcome = trial::Outcome::Infeasible(trial::Verdict::kWrongOutput, "it \"says\"\nso");
  report.outcome.is_told = true;
  read = ReadReport(ToLine(report));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->outcome.verdict, trial::Verdict::kWrongOutput);
  EXPECT_TRUE(read->outcome.is_told);
  EXPECT_EQ(read->outcome.reason, "it \"says\"\\nso");  // one line
}

TEST(WorkerMessages, NotesGoWithWhatIsSaidAnyway) {
  for (const Report::Kind kind :
       {Report::Kind::kOutcome, Report::Kind::kLost, Report::Kind::kMachine}) {
    Report report;
    report.kind = kind;
    report.lease = 8;
    report.outcome = trial::Outcome::Feasible(1);
    EXPECT_EQ(ToLine(report).find("note"), std::string::npos);  // as workers say it that know none
    ASSERT_TRUE(ReadReport(ToLine(report)));
    EXPECT_EQ(ReadReport(ToLine(report))->note, "");
    report.note = "the machine\nis busy";
    const Result<Report> read = ReadReport(ToLine(report));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->kind, kind);
    EXPECT_EQ(read->note, "the machine\\nis busy");
  }
  EXPECT_FALSE(ReadReport(R"({"lease": 1, "lost": "so", "note": 3})"));
}

/// What is a part of a line for a person is short; what is compared is not cut, but refused.
TEST(WorkerMessages, TextsHaveALength) {
  const std::string text(3000, 'x');
  for (const char* member : {"error", "lost", "note"}) {
    const Result<Report> read =
        ReadReport(nlohmann::json{{"lease", 1}, {"lost", "x"}, {member, text}}.dump());
    ASSERT_TRUE(read) << member;
    EXPECT_LE(read->text.size() + read->note.size(), 404u) << member;
  }
  for (const char* member : {"version", "identity"}) {
    nlohmann::json hello = {
        {"hello", "bayloom-worker"}, {"protocol", 1}, {"version", "1"}, {"identity", "board"}};
    EXPECT_TRUE(ReadReport(hello.dump()));
    hello[member] = text;
    const Result<Report> read = ReadReport(hello.dump());
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().message, "'" + std::string(member) + "' is a text of at most 200 bytes");
  }
}

TEST(WorkerMessages, RefusesWhatIsNone) {
  for (const char* line :
       {"", "7", "[]", "{", "{}", "{\"lease\": 1}", "{\"subject\": 0, \"definition\": {}}",
        "{\"subject\": -1}", "{\"subject\": 18446744073709551615}", "{\"subject\": 1.5}",
        "{\"subject\": \"1\"}", "{\"lease\": 1, \"subject\": 1, \"repeat\": 3}",
        "{\"measure\": \"everything\"}", "{\"lease\": 99999999999999999999, \"subject\": 1}"}) {
    const Result<Request> request = ReadRequest(line);
    ASSERT_FALSE(request) << line;
    EXPECT_EQ(request.error().message.find('\n'), std::string::npos);
  }
  for (const char* line :
       {"{\"lease\": 1}", "{\"lease\": 1, \"outcome\": {\"verdict\": \"ok\"}}",
        "{\"lease\": 1, \"outcome\": {\"verdict\": \"ok\", \"value\": null}}",
        "{\"lease\": 1, \"outcome\": {\"verdict\": \"crash\"}}",
        "{\"lease\": 1, \"outcome\": {\"verdict\": \"perfect\", \"value\": 1}}",
        "{\"lease\": 1, \"outcome\": {\"verdict\": \"ok\", \"value\": 1, \"values\": [1]}}",
        "{\"hello\": \"another\"}", "{\"hello\": \"bayloom-worker\", \"protocol\": 1}",
        "{\"subject\": 1, \"slots\": 0}", "{\"subject\": 1, \"slots\": 1000000000}",
        "{\"error\": 1}"}) {
    EXPECT_FALSE(ReadReport(line)) << line;
  }
  const auto with_value = [](const std::string& name) {
    return ReadReport(R"({"lease": 1, "outcome": {"verdict": "ok", "value": 1, "values": {)" +
                      nlohmann::json(name).dump() + ": 1}}}");
  };
  EXPECT_TRUE(with_value(std::string(200, 'n')));
  for (const std::string& name : {std::string(201, 'n'), std::string("a\nb"), std::string()}) {
    EXPECT_FALSE(with_value(name)) << name;
  }
  Report crowded;
  crowded.kind = Report::Kind::kOutcome;
  crowded.lease = 1;
  crowded.outcome = trial::Outcome::Feasible(1);
  for (int i = 0; i < 64; ++i) crowded.outcome.Set("v" + std::to_string(i), i);
  EXPECT_TRUE(ReadReport(ToLine(crowded)));
  crowded.outcome.Set("v64", 64);
  EXPECT_FALSE(ReadReport(ToLine(crowded)));
  EXPECT_THAT(ReadRequest("{}").error().message, HasSubstr("expected 'subject'"));
}

}  // namespace
}  // namespace bayloom::remote
