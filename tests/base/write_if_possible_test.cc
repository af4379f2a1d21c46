// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>

#include "bayloom/base/write_ignoring_sigpipe.h"

namespace bayloom::base {
namespace {

TEST(WriteIfPossible, AFullDiskAndAReaderThatIsGoneChangeNothing) {
  std::FILE* const full = std::fopen("/dev/full", "w");
  ASSERT_NE(full, nullptr);
  WriteIfPossible(full, "text\n");
  EXPECT_FALSE(std::ferror(full));
  std::fclose(full);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::FILE* const pipe = fdopen(ends[1], "w");
  close(ends[0]);
  WriteIfPossible(pipe, "text\n");
  std::fclose(pipe);
}

TEST(WriteIfPossible, WritesAtOnce) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::FILE* const pipe = fdopen(ends[1], "w");
  WriteIfPossible(pipe, "text");
  char text[8];
  EXPECT_EQ(read(ends[0], text, sizeof(text)), 4);
  std::fclose(pipe);
  close(ends[0]);
}

TEST(OpenStandardStreams, GivesAllThreeNumbersAway) {
  const auto check = [] {
    for (int descriptor = 0; descriptor <= 2; ++descriptor) close(descriptor);
    OpenStandardStreams();
    const bool is_lost = write(2, "x", 1) == 1;
    const bool is_refused = write(1, "x", 1) < 0;
    _exit(open("/dev/null", O_RDONLY) > 2 && is_lost && is_refused ? 0 : 1);
  };
  EXPECT_EXIT(check(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace bayloom::base
