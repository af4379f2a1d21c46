// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/run/learn_from.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "bayloom/base/result.h"
#include "tests/temporary_folder.h"

namespace bayloom::run {
namespace {

using testing::ElementsAre;

LearnFrom Parse(const std::vector<std::string>& words) { return LearnFrom::Parse(words); }

TEST(LearnFrom, ReadsItsOwnWords) {
  const std::vector<std::string> all = {"earlier", "store", "a.db", "./off"};
  for (const auto& words : {std::vector<std::string>{"off"}, {"earlier"}, {"a.db", "b.db"}, all}) {
    EXPECT_EQ(Parse(words).Words(), words);
    EXPECT_EQ(Parse(words).IsOff(), words.front() == "off");
  }
  EXPECT_EQ(Parse(all).Text(), "earlier, store, a.db, ./off");
  EXPECT_THROW(Parse({"off", "earlier"}), InputError);
  EXPECT_THROW(Parse({""}), InputError);
}

TEST(LearnFrom, TheOwnDatabaseIsLearntFromWhereItIsAskedForAndThere) {
  const TemporaryFolder folder;
  const std::string own = folder / "own.db";
  EXPECT_THAT(Parse({"earlier", "a.db"}).FilesWith(own), ElementsAre("a.db"));
  std::ofstream(own) << "records";
  EXPECT_THAT(Parse({"earlier", "a.db"}).FilesWith(own), ElementsAre("a.db", own));
  EXPECT_THAT(Parse({"a.db"}).FilesWith(own), ElementsAre("a.db"));
  EXPECT_THROW(Parse({"earlier"}).FilesWith(""), InputError);
  EXPECT_THROW(Parse({"store"}).FilesWith(own), InputError);
}

}  // namespace
}  // namespace bayloom::run
