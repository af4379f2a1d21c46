// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/job_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>

#include "bayloom/base/result.h"
#include "bayloom/base/run_command.h"

namespace bayloom::base {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string Refusal(int64_t jobs, const JobNeeds& each) {
  try {
    ReserveJobs(jobs, each);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

rlimit OpenFiles() {
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit;
}

TEST(ReserveJobs, RaisesTheSoftLimitForThisProcessOnly) {
  const rlimit before = OpenFiles();
  const rlimit low = {100, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  ReserveJobs(20, {.open_files = 10, .processes = 1});
  EXPECT_GE(OpenFiles().rlim_cur, 200u);
  Command command;
  command.arguments = {"sh", "-c", "ulimit -Sn"};
  EXPECT_EQ(RunCommand(command).output, "100\n");
  setrlimit(RLIMIT_NOFILE, &before);
}

TEST(ReserveJobs, SaysHowManyFit) {
  const auto limit = static_cast<int64_t>(OpenFiles().rlim_max);
  EXPECT_THAT(Refusal(limit, {.open_files = 10, .processes = 1}),
              AllOf(HasSubstr(std::to_string(limit) + " jobs"), HasSubstr("open files"),
                    HasSubstr(std::to_string((limit - 64) / 10) + " jobs fit")));
  EXPECT_THAT(Refusal(100'000'000, {.open_files = 1, .processes = 1000}), HasSubstr("jobs fit"));
  EXPECT_EQ(Refusal(1, {.open_files = 1 << 30, .processes = 1 << 30}), "");
}

}  // namespace
}  // namespace bayloom::base
