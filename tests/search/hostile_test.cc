// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Malformed files: each is read, or refused by one line; none crashes the reader.
// (Mutations of files are given to the readers by tests/fuzz.)
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "bayloom/base/result.h"
#include "bayloom/search/recorded_space.h"
#include "bayloom/search/scenario.h"
#include "tests/temporary_folder.h"

namespace bayloom::search {
namespace {

/// Checks that the action succeeds or complains in one line; returns whether it complained.
template <typename Action>
bool Complains(const std::string& input, const Action& action) {
  try {
    action();
    return false;
  } catch (const InputError& error) {
    const std::string_view message = error.what();
    EXPECT_FALSE(message.empty()) << input;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message << "\nfor\n" << input;
    EXPECT_LT(message.size(), 1000u) << message << "\nfor\n" << input;
    return true;
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what() << "\nfor\n" << input;
    return true;
  }
}

TEST(Hostile, TextThatIsNotUtf8IsRefusedAtItsPlace) {
  const std::string text =
      "parameters:\n  a: {type: categorical, values: [x, caf\xe9]}\nminimize: seconds\n";
  EXPECT_THAT([&] { (void)ParseScenario(text, "latin.yaml"); },
              testing::ThrowsMessage<InputError>(
                  "latin.yaml:2:41: the byte 0xE9 is not part of UTF-8 text"));
}

TEST(Hostile, FilesMayBeCalledInLatin1) {
  const Scenario scenario = ParseScenario(
      "parameters: {a: {type: integer, range: [1, 2]}}\nminimize: t\n", "caf\xe9.yaml");
  EXPECT_EQ(scenario.name, "caf\\xe9");
}

TEST(Hostile, NamesAreShortAndPrintable) {
  const auto with = [](const std::string& parameter, const std::string& objective) {
    return "parameters: {\"" + parameter + "\": {type: integer, range: [1, 2]}}\nminimize: \"" +
           objective + "\"\n";
  };
  EXPECT_FALSE(Complains("plain", [&] { (void)ParseScenario(with("a", "t"), "f"); }));
  for (const std::string& name : {std::string(300000, 'x'), std::string("\\e[31m")}) {
    EXPECT_TRUE(Complains("parameter", [&] { (void)ParseScenario(with(name, "t"), "f"); }));
    EXPECT_TRUE(Complains("objective", [&] { (void)ParseScenario(with("a", name), "f"); }));
  }
}

TEST(Hostile, RecordsThatAreNestedTooDeepAreRefused) {
  const TemporaryFolder folder;
  const std::string path = folder / "deep.json";
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  std::ofstream(path) << "{\"results\": [{\"configuration\": {\"a\": " << deep << "}}]}";
  EXPECT_THAT(
      [&] { (void)RecordedSpace::Load(path); },
      testing::ThrowsMessage<InputError>(testing::HasSubstr("it is nested more than 500 deep")));
}

TEST(Hostile, DeepAndLarge) {
  const std::string texts[] = {
      std::string(200000, '['),
      std::string(200000, '{'),
      "parameters: " + std::string(100000, '['),
      "parameters: {x: {type: categorical, values: [" + std::string(100000, '-') + "]}}",
      "parameters: {x: {type: integer, range: [0, 9223372036854775807]}}",
      "parameters: {x: {type: integer, range: [-9223372036854775808, 9223372036854775807]}}",
      "parameters: {x: {type: real, range: [-1e308, 1e308]}}",
      "parameters: {x: {type: factorization, extent: 9223372036854775807, parts: 1000}}",
      "parameters: {x: {type: permutation, size: 1000}}",
      "parameters: {x: {type: integer, range: [1, 4]}}\nconstraints: ['" +
          std::string(100000, '(') + "']",
      "parameters: {x: {type: integer, range: [1, 4]}}\nconstraints: ['" +
          std::string(100000, '-') + "x > 0']",
      "parameters: {x: {type: integer, range: [1, 4]}}\nevaluator: {command: '" +
          std::string(100000, 'x') + "'}",
      "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nparameters: *c",
      std::string("parameters: {\0x: 1}", 19),
  };
  for (const std::string& text : texts) {
    Complains(text.substr(0, 100), [&] { (void)ParseScenario(text, "hostile.yaml"); });
  }
}

}  // namespace
}  // namespace bayloom::search
