// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/measured_target.h"

#include <gtest/gtest.h>

#include "bayloom/codegen/host.h"
#include "tests/temporary_folder.h"

namespace bayloom::tuning {
namespace {

const MeasuringNotices kIgnore = {[] {}, [](const std::string&) {}};

UserStore NoStore() { return UserStore(std::nullopt, UserStore::Mode::kRead, {}); }

TEST(MeasuredTarget, IsMeasuredOnceAndKept) {
  const TemporaryFolder folder;
  record::Store store(folder / "records.db");
  UserStore none = NoStore();
  const target::Target first = MeasuredTarget(store, none, codegen::HostTarget(1), kIgnore);
  ASSERT_TRUE(first.machine);
  EXPECT_EQ(MeasuredTarget(store, none, codegen::HostTarget(1), kIgnore).machine, first.machine);
  EXPECT_EQ(store.Targets().size(), 1U);
}

TEST(MeasuredTarget, OfADatabaseWithoutMachineStaysAsItWas) {
  const TemporaryFolder folder;
  record::Store store(folder / "records.db");
  UserStore none = NoStore();
  store.AddTarget(codegen::HostTarget(1));
  EXPECT_FALSE(MeasuredTarget(store, none, codegen::HostTarget(1), kIgnore).machine);
}

/// What was measured in quiet is worth more than what a busy machine would tell now, and programs
/// without trials are the same in all commands.
TEST(MeasuredTarget, IsTheOneThatTheUsersStoreKnows) {
  const TemporaryFolder folder;
  target::Target quiet = codegen::HostTarget(1);
  quiet.machine = target::NominalMachine(quiet);
  quiet.machine->division *= 2;
  UserStore user_store(folder / "programs.db", UserStore::Mode::kWrite,
                       [](const std::string& warning) { FAIL() << warning; });
  user_store.KeepMachine(quiet);
  record::Store store(folder / "records.db");
  const MeasuringNotices no_measuring = {[] { FAIL() << "nothing is measured"; }, {}};
  EXPECT_EQ(MeasuredTarget(store, user_store, codegen::HostTarget(1), no_measuring).machine,
            quiet.machine);
}

TEST(MeasuredTarget, IsKeptForAllModels) {
  const TemporaryFolder folder;
  UserStore user_store(folder / "programs.db", UserStore::Mode::kWrite, {});
  record::Store store(folder / "records.db");
  bool is_disturbed = false;
  const MeasuringNotices notices = {[] {}, [&](const std::string&) { is_disturbed = true; }};
  const target::Target first = MeasuredTarget(store, user_store, codegen::HostTarget(1), notices);
  EXPECT_EQ(user_store.KnownMachine(codegen::HostTarget(1)),
            is_disturbed ? std::nullopt : first.machine);
}

}  // namespace
}  // namespace bayloom::tuning
