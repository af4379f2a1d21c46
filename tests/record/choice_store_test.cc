// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/record/choice_store.h"

#include <gtest/gtest.h>

#include "tests/temporary_folder.h"

namespace bayloom::record {
namespace {

constexpr uint64_t kKey = 0xfedcba9876543210, kOther = 17;

TEST(ChoiceStore, KeepsTheLastChoiceOfAKeyDurably) {
  const TemporaryFolder folder;
  const std::string path = folder / "programs.db";
  {
    ChoiceStore store(path, Database::Mode::kReadWrite, 1);
    EXPECT_FALSE(store.Find(kKey));
    store.Keep(kKey, "first");
    store.Keep(kKey, "second");
    store.Keep(kOther, "other");
  }
  ChoiceStore store(path, Database::Mode::kReadOnly, 1);
  EXPECT_EQ(store.Find(kKey), "second");
  EXPECT_EQ(store.Find(kOther), "other");
}

TEST(ChoiceStore, ForgetsWhatOtherBuildsChose) {
  const TemporaryFolder folder;
  const std::string path = folder / "programs.db";
  ChoiceStore older(path, Database::Mode::kReadWrite, 1);
  older.Keep(kKey, "older");
  ChoiceStore newer(path, Database::Mode::kReadWrite, 2);
  EXPECT_FALSE(newer.Find(kKey));
  newer.Keep(kOther, "newer");
  EXPECT_FALSE(older.Find(kKey));
  EXPECT_EQ(newer.Find(kOther), "newer");
}

}  // namespace
}  // namespace bayloom::record
