// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/record/sample_store.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <thread>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/record/store.h"
#include "tests/record/sample.h"
#include "tests/temporary_folder.h"

namespace bayloom::record {
namespace {

TaskSamples Samples(TaskId task, int count, uint64_t seed = 1) {
  base::RandomStream random(seed);
  TaskSamples samples = {.task = task, .given = 7 + count, .samples = {}};
  for (int i = 0; i < count; ++i) {
    MeasuredSample& sample = samples.samples.emplace_back();
    sample.hash = 0xfedcba9876543210 + i;
    if (i % 5 != 4) sample.seconds = 1e-3 * (1 + random.Uniform());
    sample.features.rows = 1 + i % 3;
    for (int j = 0; j < sample.features.rows * feature::kFeatureColumns; ++j) {
      sample.features.values.push_back(static_cast<float>(random.Normal()));
    }
  }
  return samples;
}

void ExpectSame(const TaskSamples& a, const TaskSamples& b) {
  EXPECT_EQ(a.given, b.given);
  ASSERT_EQ(a.samples.size(), b.samples.size());
  for (size_t i = 0; i < a.samples.size(); ++i) {
    EXPECT_EQ(a.samples[i].hash, b.samples[i].hash);
    EXPECT_EQ(a.samples[i].seconds, b.samples[i].seconds);
    EXPECT_EQ(a.samples[i].features, b.samples[i].features);
  }
}

class SampleStoreTest : public testing::Test {
 protected:
  TargetId Cores(int cores) {
    target::Target target;
    target.cores = cores;
    return store_.AddTarget(target);
  }

  void Put(TargetId target, const TaskSamples& samples) {
    samples_.Update(samples.task, target, [&](TaskSamples& kept) { kept = samples; });
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "a.db";
  Store store_{path_};
  SampleStore samples_{path_};
  TaskId small_ = store_.AddTask(Matmul(4, 8, 16)), large_ = store_.AddTask(Matmul(8, 8, 16));
};

TEST_F(SampleStoreTest, SamplesAreThereForTheirTaskAndTargetOnly) {
  const TargetId one = Cores(1), two = Cores(2);
  const TaskSamples some = Samples(small_, 12), others = Samples(large_, 5, 2);
  Put(one, some);
  Put(one, others);
  SampleStore again(path_, SampleStore::Mode::kReadOnly);
  ExpectSame(again.Of(small_, one), some);
  ExpectSame(again.Of(large_, one), others);
  EXPECT_TRUE(again.Of(small_, two).samples.empty());
  EXPECT_EQ(again.Given(one), 19 + 12);
  EXPECT_EQ(again.Given(two), 0);
  EXPECT_TRUE(again.TasksOn(two).empty());
}

TEST_F(SampleStoreTest, AnUpdateTakesThePlaceOfWhatWasThereAndComesLast) {
  const TargetId target = Cores(1);
  Put(target, Samples(small_, 12));
  Put(target, Samples(large_, 4));
  Put(target, Samples(small_, 3, 9));
  ExpectSame(samples_.Of(small_, target), Samples(small_, 3, 9));
  const std::vector<SampledTask> tasks = samples_.TasksOn(target);
  ASSERT_EQ(tasks.size(), 2U);
  EXPECT_EQ(tasks[0].id, large_);
  EXPECT_EQ(tasks[1].id, small_);
  EXPECT_EQ(tasks[1].given, 10);
}

TEST_F(SampleStoreTest, WhereAnUpdateThrowsNothingIsChanged) {
  const TargetId target = Cores(1);
  Put(target, Samples(small_, 12));
  const auto fails = [](TaskSamples& kept) {
    kept.samples.clear();
    throw InputError("no");
  };
  EXPECT_THROW(samples_.Update(small_, target, fails), InputError);
  ExpectSame(samples_.Of(small_, target), Samples(small_, 12));
}

TEST(SampleStores, ProcessesThatUpdateATaskAtTheSameTimeLoseNothingOfEachOther) {
  constexpr int kWriters = 3, kUpdates = 20;
  const TemporaryFolder folder;
  const std::string path = folder / "a.db";
  TaskId task = 0;
  TargetId target = 0;
  {  // SQLite must not be open across a fork
    Store store(path);
    task = store.AddTask(Matmul(4, 8, 16));
    target = store.AddTarget(SampleTarget());
  }
  const auto add = [&](uint64_t hash) {
    return [&, hash](TaskSamples& kept) {
      MeasuredSample sample = Samples(task, 1).samples[0];
      sample.hash = hash;
      kept.samples.push_back(std::move(sample));
      ++kept.given;
    };
  };
  std::vector<pid_t> writers;
  for (int i = 0; i < kWriters; ++i) {
    const pid_t writer = fork();
    if (writer == 0) {
      try {
        SampleStore samples(path);
        for (int j = 0; j < kUpdates; ++j) samples.Update(task, target, add(kUpdates * i + j));
      } catch (const std::exception& error) {
        fprintf(stderr, "%s\n", error.what());
        _exit(1);
      }
      _exit(0);
    }
    writers.push_back(writer);
  }
  for (const pid_t writer : writers) {
    int status = 0;
    ASSERT_EQ(waitpid(writer, &status, 0), writer);
    EXPECT_EQ(status, 0);
  }
  const TaskSamples kept = SampleStore(path).Of(task, target);
  EXPECT_EQ(kept.given, kWriters * kUpdates);
  std::set<uint64_t> hashes;
  for (const MeasuredSample& sample : kept.samples) hashes.insert(sample.hash);
  EXPECT_EQ(hashes.size(), size_t{kWriters * kUpdates});
}

TEST_F(SampleStoreTest, TrimmingRemovesWhatWasChangedLongestAgoOnAnyTarget) {
  const TargetId one = Cores(1), two = Cores(2);
  Put(one, Samples(small_, 20));
  Put(two, Samples(small_, 20));
  Put(one, Samples(large_, 20));
  const int64_t all = samples_.Bytes();
  samples_.Trim(all);
  EXPECT_EQ(samples_.Bytes(), all);
  samples_.Trim(all - 1);
  EXPECT_TRUE(samples_.Of(small_, one).samples.empty());
  EXPECT_EQ(samples_.Of(small_, two).samples.size(), 20U);
  EXPECT_EQ(samples_.Of(large_, one).samples.size(), 20U);
  samples_.Trim(all / 2);
  EXPECT_TRUE(samples_.Of(small_, two).samples.empty());
  EXPECT_EQ(samples_.Of(large_, one).samples.size(), 20U);
  samples_.Trim(0);
  EXPECT_EQ(samples_.Bytes(), 0);
}

TEST_F(SampleStoreTest, ModelsAreFoundByHashAndByTarget) {
  const TargetId one = Cores(1), two = Cores(2);
  samples_.AddModel(one, {.hash = 0xffffffffffffffff,
                          .given = 5,
                          .trials = 4,
                          .tasks = 2,
                          .bytes = std::string("a\0b", 3)});
  samples_.AddModel(one, {.hash = 2, .given = 9, .trials = 8, .tasks = 3, .bytes = "second"});
  samples_.AddModel(two, {.hash = 3, .given = 1, .trials = 1, .tasks = 1, .bytes = "third"});
  ASSERT_TRUE(samples_.ModelOf(0xffffffffffffffff).has_value());
  EXPECT_EQ(samples_.ModelOf(0xffffffffffffffff)->bytes, std::string("a\0b", 3));
  EXPECT_EQ(samples_.LastModel(one)->hash, 2U);
  EXPECT_EQ(samples_.LastModel(one)->given, 9);
  EXPECT_FALSE(samples_.LastModel(Cores(3)).has_value());
}

TEST_F(SampleStoreTest, OneModelReplacesThoseOfItsTarget) {
  const TargetId one = Cores(1), two = Cores(2);
  for (const uint64_t hash : {4, 5}) samples_.AddModel(one, {.hash = hash, .bytes = "old"});
  samples_.AddModel(two, {.hash = 3, .bytes = "third"});
  samples_.ReplaceModels(one, {.hash = 2, .bytes = "new"});
  for (const uint64_t hash : {4, 5}) EXPECT_FALSE(samples_.ModelOf(hash).has_value());
  EXPECT_EQ(samples_.LastModel(one)->bytes, "new");
  EXPECT_EQ(samples_.LastModel(two)->hash, 3U);
  samples_.ReplaceModels(one, {.hash = 2, .bytes = "new"});
  EXPECT_EQ(samples_.LastModel(one)->hash, 2U);
}

/// Two processes that have trained models of one target keep one of them.
TEST_F(SampleStoreTest, StoresThatReplaceModelsAtOnceKeepOne) {
  const TargetId target = Cores(1);
  const auto replace = [&](uint64_t from) {
    SampleStore store(path_);
    for (uint64_t hash = from; hash < from + 20; ++hash) {
      store.ReplaceModels(target, {.hash = hash, .bytes = "trained"});
      EXPECT_TRUE(store.LastModel(target).has_value());
    }
  };
  {
    const std::jthread other([&] { replace(100); });
    replace(200);
  }
  const uint64_t last = samples_.LastModel(target)->hash;
  EXPECT_TRUE(last == 119 || last == 219) << last;
  Database database(path_, Database::Mode::kReadOnly);
  Rows rows = database.Prepared("SELECT COUNT(*) FROM models").Start();
  ASSERT_TRUE(rows.Step());
  EXPECT_EQ(rows.Int(0), 1);
}

TEST_F(SampleStoreTest, DamageIsSaidAndOtherFeaturesAreNotThere) {
  const TargetId target = Cores(1);
  const char* const damages[] = {"measurements = x'00'", "features = x'1234'",
                                 "measurements = zeroblob(LENGTH(measurements))"};
  for (const char* damage : damages) {
    Put(target, Samples(small_, 6));
    Database(path_, Database::Mode::kReadWrite)
        .Execute(std::string("UPDATE samples SET ") + damage);
    EXPECT_THROW(samples_.Of(small_, target), InputError) << damage;
    EXPECT_THROW(Put(target, Samples(small_, 6)), InputError) << damage;
    samples_.Trim(0);
  }
  Put(target, Samples(small_, 6));
  Database(path_, Database::Mode::kReadWrite).Execute("UPDATE samples SET layout = layout + 1");
  EXPECT_TRUE(samples_.Of(small_, target).samples.empty());
  EXPECT_EQ(samples_.Given(target), 0);
}

}  // namespace
}  // namespace bayloom::record
