// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <set>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/record/store.h"
#include "tests/record/sample.h"
#include "tests/temporary_folder.h"

namespace bayloom::record {
namespace {

constexpr int64_t kEnough = 100000;

/// Goes on with the last session from where it is: what a resumed tuner does. Says each trial's
/// ordinal on the pipe after the store has acknowledged it.
void WriteTrials(const std::string& path, int pipe) {
  Store store(path);
  Context context(store);  // begins a session, which a resumed run leaves unused
  context.run = store.Runs().front().id;
  const std::vector<StoredTrial> known = store.TrialsOfRun(context.run);
  for (auto ordinal = static_cast<int64_t>(known.size()); ordinal < kEnough; ++ordinal) {
    store.AddTrial(MakeTrial(context, ordinal, 1e-3));
    if (write(pipe, &ordinal, sizeof(ordinal)) != sizeof(ordinal)) return;
    if (ordinal % 16 == 15) {
      store.SaveState(context.run, std::to_string(ordinal),
                      std::vector<Metric>{{context.task, ordinal, "rmse", 0.5}});
    }
  }
}

TEST(Durability, AWriterKilledAtAnyMomentLosesAndRepeatsNothing) {
  TemporaryFolder folder;
  const std::string path = folder / "a.db";
  base::RandomStream random(1);
  std::set<int64_t> acknowledged;
  for (int round = 0; round < 20; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t writer = fork();
    if (writer == 0) {
      close(ends[0]);
      WriteTrials(path, ends[1]);
      _exit(0);
    }
    close(ends[1]);
    // Kill it while it opens the store, or after some trials, at any point of writing the next.
    int64_t ordinal = 0;
    const auto note = [&] { EXPECT_TRUE(acknowledged.insert(ordinal).second) << ordinal; };
    const auto next = [&] { return read(ends[0], &ordinal, sizeof(ordinal)) == sizeof(ordinal); };
    for (int64_t trials = random.UniformInt(30); trials > 0 && next(); --trials) note();
    usleep(static_cast<useconds_t>(random.UniformInt(2000)));
    kill(writer, SIGKILL);
    waitpid(writer, nullptr, 0);
    while (next()) note();
    close(ends[0]);

    Store store(path);
    if (store.Runs().empty()) continue;  // killed before there was a session
    const std::vector<StoredTrial> trials = store.TrialsOfRun(store.Runs().front().id);
    std::set<int64_t> present;
    for (const StoredTrial& trial : trials) EXPECT_TRUE(present.insert(trial.ordinal).second);
    for (int64_t known : acknowledged) EXPECT_TRUE(present.contains(known)) << known << " is lost";
    // What was written but not acknowledged yet counts as measured: resuming skips it.
    if (!present.empty()) {
      EXPECT_EQ(*present.rbegin() + 1, static_cast<int64_t>(present.size()));
    }
    acknowledged = present;
  }
  EXPECT_GT(acknowledged.size(), 20u);
}

}  // namespace
}  // namespace bayloom::record
