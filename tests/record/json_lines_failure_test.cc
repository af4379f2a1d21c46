// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "bayloom/base/result.h"
#include "bayloom/base/system_error.h"
#include "tests/record/json_lines.h"
#include "tests/record/random_records.h"
#include "tests/temporary_folder.h"

namespace bayloom::record {
namespace {

// Files that cannot be imported, and disks that cannot be exported to.

TEST(JsonLinesFailure, DamagedSamplesAndModelsAreRefusedAndThoseOfOtherFeaturesLeftOut) {
  TemporaryFolder folder;
  base::RandomStream random(8);
  Store source(folder / "a.db");
  SampleStore samples(source.path());
  samples.Update(source.AddTask(Matmul(4, 8, 16)), source.AddTarget(SampleTarget()),
                 [&](TaskSamples& kept) {
                   kept.samples = RandomSamples(random);
                   kept.given = std::ssize(kept.samples);
                 });
  samples.AddModel(source.AddTarget(SampleTarget()), RandomModel(random));
  const std::string text = Export(source);
  const auto changed = [&](const std::string& member, const std::string& value) {
    return std::regex_replace(text, std::regex("\"" + member + "\":(\"[^\"]*\"|[0-9]+)"),
                              "\"" + member + "\":" + value);
  };
  for (const auto& [member, value] :
       {std::pair{"measurements", "\"AAAA\""}, {"features", "\"AAAA\""}, {"bytes", "\"AAAA\""}}) {
    Store copy(folder / (std::string(member) + ".db"));
    EXPECT_THROW(Import(copy, changed(member, value)), InputError) << member;
    EXPECT_TRUE(copy.Tasks().empty());
  }
  Store other(folder / "other.db");
  EXPECT_EQ(Import(other, changed("layout", "\"0123456789abcdef\"")).samples, 0);
  EXPECT_EQ(SampleStore(other.path()).Bytes(), 0);
  EXPECT_EQ(other.Tasks().size(), 1u);
}

TEST(JsonLinesFailure, ABadLineIsNamedAndNothingIsKept) {
  TemporaryFolder folder;
  Store source(folder / "a.db"), copy(folder / "b.db");
  Fill(source);
  const std::string good = Export(source);
  const auto error = [&](const std::string& text) -> std::string {
    try {
      Import(copy, text);
    } catch (const InputError& e) {
      return e.what();
    }
    return "no error";
  };
  using testing::HasSubstr;
  using testing::StartsWith;
  EXPECT_EQ(error(""), "r.jsonl holds no records");
  EXPECT_THAT(error("{\"type\": \"trial\"}"), StartsWith("r.jsonl line 1: this is not a file of"));
  EXPECT_THAT(error(good.substr(0, good.size() - 5)), StartsWith("r.jsonl line 14: "));
  std::string bad = good;
  bad.replace(bad.find("\"crash\""), 7, "\"crush\"");
  EXPECT_EQ(error(bad), "r.jsonl line 10: unknown verdict 'crush'");
  bad = good;
  bad.erase(0, bad.find('\n') + 1);
  EXPECT_THAT(error(bad), StartsWith("r.jsonl line 1: "));
  bad = good;
  const size_t task = bad.find("{\"hash\"", bad.find("\"target\""));
  bad.erase(task, bad.find('\n', task) - task);
  EXPECT_THAT(error(bad), HasSubstr("is not known from an earlier line"));
  EXPECT_TRUE(copy.Runs().empty());
  EXPECT_TRUE(copy.Tasks().empty());
}

/// `text` with this member of all lines of this type replaced.
std::string WithMember(const std::string& text, const std::string& type, const std::string& member,
                       const std::string& value) {
  std::string changed;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const size_t at = line.find("\"" + member + "\":");
    if (line.find("\"type\":\"" + type + "\"") != std::string::npos && at != std::string::npos) {
      const size_t begin = at + member.size() + 3;
      line.replace(begin, line.find_first_of(",}", begin) - begin, value);
    }
    changed += line + "\n";
  }
  return changed;
}

TEST(JsonLinesFailure, ValuesThatCannotBeAreRefused) {
  TemporaryFolder folder;
  Store source(folder / "a.db"), copy(folder / "b.db");
  Fill(source);
  FillSearch(source);
  const std::string good = Export(source);
  const struct {
    const char *type, *member, *value, *message;
  } kCases[] = {
      {"trial", "seconds", "-1", "a program cannot take -1 seconds"},
      {"trial", "seconds", "0", "a program cannot take 0 seconds"},
      {"trial", "seconds", "null", "a program cannot take nan seconds"},
      {"trial", "seconds", "5e-324", "a program cannot take 5e-324 seconds"},
      {"repeat", "value", "5e-324", "a program cannot take 5e-324 seconds"},
      {"search_trial", "value", "null", "a value cannot be nan"},
      {"trial", "ordinal", "-1", "'ordinal' is negative"},
      {"trial", "ordinal", "1e300", "'ordinal' is no whole number"},
      {"trial", "timestamp", "18446744073709551615", "'timestamp' is no whole number"},
      {"trial", "program", "\"xyz\"", "a hash is 16 hexadecimal digits"},
      {"trial", "verdict", "7", "a text is expected"},
      {"session", "seed", "-1", "'seed' is no whole number from 0 on"},
      {"session", "uuid", "\"\"", "'uuid' is empty"},
      {"search", "kind", "\"\\u001b[2J\"", "unknown kind '\\x1b[2J'"},
      {"target", "cores", "0", "a target cannot have a number of threads of 0"},
      {"target", "vector_bytes", "0", "a target cannot have a vector size in bytes of 0"},
  };
  for (const auto& [type, member, value, message] : kCases) {
    const std::string bad = WithMember(good, type, member, value);
    ASSERT_NE(bad, good) << member;
    try {
      Import(copy, bad);
      ADD_FAILURE() << type << " " << member << " " << value;
    } catch (const InputError& e) {
      EXPECT_THAT(e.what(), testing::HasSubstr(message));
      EXPECT_THAT(e.what(), testing::StartsWith("r.jsonl line "));
      EXPECT_THAT(e.what(), testing::Not(testing::HasSubstr("exception")));
    }
  }
}

TEST(JsonLinesFailure, DepthIsBounded) {
  TemporaryFolder folder;
  Store copy(folder / "b.db");
  const std::string deep(200'000, '[');
  for (const std::string& text :
       {deep, "{\"type\":\"header\",\"x\":" + deep + std::string(200'000, ']') + "}"}) {
    try {
      Import(copy, text);
      ADD_FAILURE();
    } catch (const InputError& e) {
      EXPECT_STREQ(e.what(), "r.jsonl line 1: it is nested more than 500 deep");
    }
  }
}

/// A stream whose disk is full after so many bytes.
class FullDisk final : public std::streambuf {
 public:
  explicit FullDisk(int64_t bytes) : left_(bytes) {}

 protected:
  int_type overflow(int_type next) override {
    return --left_ < 0 ? traits_type::eof() : traits_type::not_eof(next);
  }

 private:
  int64_t left_;
};

TEST(JsonLinesFailure, AnExportThatCannotBeWrittenSaysSo) {
  TemporaryFolder folder;
  Store source(folder / "a.db");
  Fill(source);
  const auto size = std::ssize(Export(source));
  for (const int64_t room : {int64_t{0}, int64_t{100}, size / 2, size - 1}) {
    FullDisk disk(room);
    std::ostream out(&disk);
    EXPECT_THROW(ExportJsonLines(source, out), SystemError);
  }
  FullDisk disk(size);
  std::ostream out(&disk);
  EXPECT_NO_THROW(ExportJsonLines(source, out));
}

}  // namespace
}  // namespace bayloom::record
