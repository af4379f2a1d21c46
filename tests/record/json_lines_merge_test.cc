// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "tests/record/json_lines.h"
#include "tests/record/random_records.h"
#include "tests/temporary_folder.h"

namespace bayloom::record {
namespace {

// What is imported into a store that holds something already.

TEST(JsonLinesMerge, PoolsAreMergedProgramByProgram) {
  TemporaryFolder folder;
  base::RandomStream random(6);
  Store source(folder / "a.db"), copy(folder / "b.db");
  std::vector<PoolProgram> programs = RandomPrograms(random);
  while (programs.size() < 3) programs = RandomPrograms(random);
  ProgramPool theirs(source.path()), ours(copy.path());
  copy.AddTask(Matmul(1, 2, 3));
  const TaskId task = source.AddTask(Matmul(4, 8, 16)), same = copy.AddTask(Matmul(4, 8, 16));
  theirs.Add(task, programs);
  theirs.PutIntoGroup("g", task, 2);
  ours.Add(same, std::vector<PoolProgram>{programs[1]});
  ours.PutIntoGroup("g", same, 3);
  EXPECT_EQ(Import(copy, Export(source)).pool_programs, std::ssize(programs) - 1);
  EXPECT_EQ(Import(copy, Export(source)).pool_programs, 0);
  ASSERT_EQ(ours.Count(same), std::ssize(programs));
  const std::vector<PoolProgram> merged = ours.At(same, std::vector<int64_t>{0, 1, 2});
  EXPECT_EQ(merged[0].hash, programs[1].hash);
  EXPECT_EQ(merged[1].hash, programs[0].hash);
  EXPECT_EQ(merged[1].features, programs[0].features);
  EXPECT_EQ(merged[2].trace, programs[2].trace);
  EXPECT_EQ(ours.Groups().at(0).members.at(0).weight, 3);  // what is there stays
}

TEST(JsonLinesMerge, SamplesAreMergedProgramByProgram) {
  TemporaryFolder folder;
  base::RandomStream random(6);
  Store source(folder / "a.db"), copy(folder / "b.db");
  std::vector<MeasuredSample> measured = RandomSamples(random);
  while (measured.size() < 3) measured = RandomSamples(random);
  SampleStore theirs(source.path()), ours(copy.path());
  copy.AddTask(Matmul(1, 2, 3));
  copy.AddTarget(SampleTarget(7));
  const TaskId task = source.AddTask(Matmul(4, 8, 16)), same = copy.AddTask(Matmul(4, 8, 16));
  const TargetId target = source.AddTarget(SampleTarget()), here = copy.AddTarget(SampleTarget());
  theirs.Update(task, target, [&](TaskSamples& kept) {
    kept.samples = measured;
    kept.given = 100;
  });
  ours.Update(same, here, [&](TaskSamples& kept) {
    kept.samples = {measured[1]};
    kept.samples[0].seconds = 77;
    kept.given = 1;
  });
  EXPECT_EQ(Import(copy, Export(source)).samples, std::ssize(measured) - 1);
  EXPECT_EQ(Import(copy, Export(source)).samples, 0);
  const TaskSamples merged = ours.Of(same, here);
  EXPECT_EQ(merged.given, 100);
  ASSERT_EQ(merged.samples.size(), measured.size());
  EXPECT_EQ(merged.samples[0].seconds, 77) << "what is there stays";
  EXPECT_EQ(merged.samples[1].hash, measured[0].hash);
  EXPECT_EQ(merged.samples[1].seconds, measured[0].seconds);
  EXPECT_EQ(merged.samples[1].features, measured[0].features);
}

TEST(JsonLinesMerge, ImportingTwiceAddsNothing) {
  TemporaryFolder folder;
  Store source(folder / "a.db"), copy(folder / "b.db");
  Fill(source);
  Fill(copy);  // other sessions and tasks are merged with what is there
  Import(copy, Export(source));
  const std::string merged = Export(copy);
  const ImportSummary again = Import(copy, Export(source));
  EXPECT_EQ(again.added, 0);
  EXPECT_EQ(again.present, 6);
  EXPECT_EQ(Export(copy), merged);
  EXPECT_EQ(copy.Runs().size(), 2u);
  EXPECT_EQ(copy.Tasks().size(), 1u);
}

}  // namespace
}  // namespace bayloom::record
