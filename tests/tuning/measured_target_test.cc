// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/measured_target.h"

#include <gtest/gtest.h>

#include "bayloom/codegen/host.h"
#include "tests/temporary_folder.h"

namespace bayloom::tuning {
namespace {

const MeasuringNotices kIgnore = {[] {}, [](const std::string&) {}, [](int) { return false; }};

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
  const MeasuringNotices no_measuring = {[] { FAIL() << "nothing is measured"; }, {}, {}};
  EXPECT_EQ(MeasuredTarget(store, user_store, codegen::HostTarget(1), no_measuring).machine,
            quiet.machine);
}

/// A second measurement would be disturbed as well; in quiet it replaces the first.
TEST(MeasuredTarget, OfABusyMachineIsUsedUntilItIsQuiet) {
  const TemporaryFolder folder;
  UserStore user_store(folder / "programs.db", UserStore::Mode::kWrite, {});
  target::Target busy = codegen::HostTarget(1);
  busy.machine = target::NominalMachine(busy);
  user_store.KeepMachine(busy, /*is_provisional=*/true);
  bool is_measured = false;
  MeasuringNotices notices = {[&] { is_measured = true; }, [](const std::string&) {},
                              [](int) { return true; }};
  record::Store first(folder / "first.db");
  EXPECT_EQ(MeasuredTarget(first, user_store, codegen::HostTarget(1), notices).machine,
            busy.machine);
  EXPECT_FALSE(is_measured);
  notices.is_busy = [](int) { return false; };
  record::Store second(folder / "second.db");
  EXPECT_NE(MeasuredTarget(second, user_store, codegen::HostTarget(1), notices).machine,
            busy.machine);
  EXPECT_TRUE(is_measured);
}

TEST(MeasuredTarget, IsKeptForAllModels) {
  const TemporaryFolder folder;
  UserStore user_store(folder / "programs.db", UserStore::Mode::kWrite, {});
  record::Store store(folder / "records.db");
  bool is_disturbed = false;
  MeasuringNotices notices = kIgnore;
  notices.disturbed = [&](const std::string&) { is_disturbed = true; };
  const target::Target first = MeasuredTarget(store, user_store, codegen::HostTarget(1), notices);
  EXPECT_EQ(user_store.KnownMachine(codegen::HostTarget(1)),
            is_disturbed ? std::nullopt : first.machine);
  EXPECT_EQ(user_store.ProvisionalMachine(codegen::HostTarget(1)),
            is_disturbed ? first.machine : std::nullopt);
}

}  // namespace
}  // namespace bayloom::tuning
