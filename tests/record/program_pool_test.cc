// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/record/program_pool.h"

#include <gtest/gtest.h>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/record/store.h"
#include "tests/record/sample.h"
#include "tests/temporary_folder.h"

namespace bayloom::record {
namespace {

/// Programs whose features mostly agree, as those of one task do.
std::vector<PoolProgram> Programs(int first, int count) {
  base::RandomStream random(first);
  std::vector<PoolProgram> programs;
  for (int i = first; i < first + count; ++i) {
    PoolProgram program{.hash = 0xfedcba9876543210 + i,
                        .space = i % 3,
                        .origin = "random",
                        .trace = "[\"decision\", " + std::to_string(i) + "]",
                        .features = {}};
    program.features.rows = i % 4;
    for (int j = 0; j < program.features.rows * feature::kFeatureColumns; ++j) {
      program.features.values.push_back(j % 5 == 0 ? static_cast<float>(random.Normal()) : 3.25f);
    }
    programs.push_back(std::move(program));
  }
  return programs;
}

void ExpectSame(const PoolProgram& a, const PoolProgram& b) {
  EXPECT_EQ(a.hash, b.hash);
  EXPECT_EQ(a.space, b.space);
  EXPECT_EQ(a.origin, b.origin);
  EXPECT_EQ(a.trace, b.trace);
  EXPECT_EQ(a.features, b.features);
}

TEST(ProgramPool, CountsThatCannotBeAreDamage) {
  for (const char* count : {"-1", "0", "9223372036854775807", "1000000000000", "'many'"}) {
    TemporaryFolder folder;
    const std::string path = folder / "a.db";
    Store store(path);
    const TaskId task = store.AddTask(Matmul(4, 8, 16));
    ProgramPool pool(path);
    pool.Add(task, Programs(0, 9));
    Database(path, Database::Mode::kReadWrite)
        .Execute("UPDATE pool_chunks SET count = " + std::string(count));
    for (const auto part :
         {ProgramPool::Part::kAll, ProgramPool::Part::kFeatures, ProgramPool::Part::kPrograms}) {
      EXPECT_THROW(pool.Visit(task, part, [](int64_t, std::span<const PoolProgram>) {}), InputError)
          << count;
    }
  }
}

TEST(PoolChunk, UnpacksWhatWasPackedAndRefusesDamage) {
  const std::vector<PoolProgram> programs = Programs(0, 9);
  const std::string packed = PackPrograms(programs), packed_features = PackFeatures(programs);
  auto unpacked = UnpackPrograms(packed);
  const auto features = UnpackFeatures(packed_features);
  ASSERT_TRUE(unpacked.ok() && features.ok());
  for (size_t i = 0; i < programs.size(); ++i) {
    (*unpacked)[i].features = (*features)[i];
    ExpectSame((*unpacked)[i], programs[i]);
  }
  for (size_t size = 0; size < packed.size(); ++size) {
    EXPECT_FALSE(UnpackPrograms(packed.substr(0, size)).ok());
  }
  EXPECT_FALSE(UnpackFeatures(packed).ok());
  EXPECT_FALSE(UnpackFeatures("").ok());
}

TEST(ProgramPool, KeepsProgramsInOrderAcrossReopening) {
  const TemporaryFolder folder;
  TaskId task = 0, other = 0;
  {
    Store store(folder / "a.db");
    task = store.AddTask(Matmul(4, 8, 16));
    other = store.AddTask(Matmul(4, 8, 17));
    ProgramPool pool(folder / "a.db");
    pool.Add(task, Programs(0, 5));
    pool.Add(other, Programs(100, 2));
    pool.Add(task, Programs(5, 3));
    pool.PutIntoGroup("b.onnx", task, 2);
    pool.PutIntoGroup("a.onnx", other, 1);
    pool.PutIntoGroup("b.onnx", task, 3);
  }
  ProgramPool pool(folder / "a.db", ProgramPool::Mode::kReadOnly);
  EXPECT_EQ(pool.Count(task), 8);
  EXPECT_EQ(pool.Tasks(), (std::vector<TaskId>{task, other}));
  const std::vector<PoolProgram> expected = Programs(0, 5), more = Programs(5, 3);
  int64_t seen = 0;
  pool.Visit(task, ProgramPool::Part::kAll, [&](int64_t first, std::span<const PoolProgram> chunk) {
    EXPECT_EQ(first, seen);
    for (const PoolProgram& program : chunk) {
      ExpectSame(program, seen < 5 ? expected[seen] : more[seen - 5]);
      ++seen;
    }
  });
  EXPECT_EQ(seen, 8);
  const std::vector<PoolProgram> some = pool.At(task, std::vector<int64_t>{7, 0, 4});
  ExpectSame(some[0], more[2]);
  ExpectSame(some[1], expected[0]);
  ExpectSame(some[2], expected[4]);
  EXPECT_THROW(pool.At(task, std::vector<int64_t>{8}), InputError);

  const std::vector<PoolGroup> groups = pool.Groups();
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].name, "a.onnx");
  ASSERT_EQ(groups[1].members.size(), 1u);
  EXPECT_EQ(groups[1].members[0].weight, 3);
}

TEST(ProgramPool, ProgramsOfATaskTakeLittleRoom) {
  const std::vector<PoolProgram> programs = Programs(0, 128);
  size_t raw = 0;
  for (const PoolProgram& program : programs) raw += program.features.values.size() * sizeof(float);
  EXPECT_LT(PackFeatures(programs).size(), raw / 3);
}

}  // namespace
}  // namespace bayloom::record
