// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>

#include "bayloom/base/result.h"
#include "bayloom/base/run_command.h"
#include "bayloom/base/system_error.h"
#include "bayloom/cli/commands.h"
#include "tests/cli/run_bayloom.h"
#include "tests/temporary_folder.h"
#include "tests/with_variable.h"

namespace bayloom::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Failure, TellsPersonsSystemsAndOwnFaultsApart) {
  EXPECT_EQ(Explain(InputError("no such model")).exit_code, 2);
  EXPECT_EQ(Explain(InputError("no such model")).message, "no such model");
  EXPECT_EQ(Explain(CheckFailed("outputs differ")).exit_code, 1);
  EXPECT_EQ(Explain(SystemError("disk full")).exit_code, 1);
  EXPECT_EQ(Explain(SystemError("disk full")).message, "disk full");
  const std::system_error no_thread(EAGAIN, std::generic_category());
  EXPECT_EQ(Explain(no_thread).exit_code, 1);
  EXPECT_EQ(Explain(no_thread).message, no_thread.what());
  EXPECT_THAT(Explain(std::bad_alloc()).message,
              AllOf(StartsWith("out of memory; "), HasSubstr("GiB")));
  const Failure fault = Explain(std::out_of_range("place 7 of 5"));
  EXPECT_EQ(fault.exit_code, 1);
  EXPECT_EQ(fault.message, "internal error: place 7 of 5; please report this");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(Failure, WhatDoesNotFitIsNamedWithTheLimit) {
  const TemporaryFolder folder;
  base::Command command;
  command.arguments = {"sh",
                       "-c",
                       "ulimit -v 400000; exec \"$@\"",
                       "sh",
                       BAYLOOM_PROGRAM,
                       "tune",
                       "--op",
                       "matmul:9000,9000,9000",
                       "--threads",
                       "1",
                       "--db",
                       folder / "tuning.db"};
  const base::CommandResult result = base::RunCommand(command);
  EXPECT_EQ(result.status.code, 1);
  EXPECT_EQ(base::LastLine(result.error_output),
            "bayloom: matmul:9000,9000,9000: out of memory; a process may use 0.4 GiB here; "
            "'ulimit -v' sets another limit");
}
#endif

template <typename Error>
void ThrowWhereNothingMay(const Error& error) noexcept {
  std::rethrow_exception(std::make_exception_ptr(error));
}

TEST(FailureDeathTest, LackOfMemoryThatCannotBeThrownIsALine) {
  EXPECT_EXIT(
      {
        ExplainLackOfMemory();
        ThrowWhereNothingMay(std::bad_alloc());
      },
      testing::ExitedWithCode(1), "^bayloom: out of memory\n$");
  EXPECT_EXIT(
      {
        ExplainLackOfMemory();
        ThrowWhereNothingMay(std::out_of_range("place 7 of 5"));
      },
      testing::KilledBySignal(SIGABRT), "");
}

TEST(Failure, AFolderThatCannotBeWrittenIsNamedWithItsVariable) {
  const TemporaryFolder folder;
  const WithVariable temporary("TMPDIR", folder / "missing");
  const Answer answer = RunBayloom({"map", "--op", "matmul:8,8,8", "--arch", "gemmini",
                                    "--evaluator", "echo 1", "--evaluations", "1"});
  EXPECT_EQ(answer.exit_code, 1);
  EXPECT_THAT(answer.error,
              HasSubstr("missing': No such file or directory; set TMPDIR to a folder that can be "
                        "written to\n"));
}

TEST(Failure, AFullDiskEndsWithCodeOne) {
  const TemporaryFolder folder;
  const std::string database = folder / "tuning.db";
  ASSERT_EQ(RunBayloom({"tune", "--op", "matmul:8,8,8", "--strategy", "random", "--trials", "1",
                        "--db", database})
                .exit_code,
            0);
  const Answer full = RunBayloom({"records", "export", database, "--out", "/dev/full"});
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_THAT(full.error, HasSubstr("cannot write '/dev/full': No space left on device"));
  const Answer missing = RunBayloom({"records", "export", database, "--out", folder / "no/file"});
  EXPECT_EQ(missing.exit_code, 2);
}

}  // namespace
}  // namespace bayloom::cli
