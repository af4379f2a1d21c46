// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/status_line.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>

namespace bayloom::report {
namespace {

TEST(StatusLine, ALogGetsWhatStaysAndNotEveryStep) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> log(std::tmpfile(), &std::fclose);
  ASSERT_NE(log, nullptr);
  {
    StatusLine line(log.get());
    for (int i = 0; i < 1000; ++i) line.Show("step");
    line.Keep("round 1");
  }
  std::rewind(log.get());
  char text[64] = {};
  EXPECT_EQ(std::fread(text, 1, sizeof(text), log.get()), 8u);
  EXPECT_STREQ(text, "round 1\n");
}

}  // namespace
}  // namespace bayloom::report
