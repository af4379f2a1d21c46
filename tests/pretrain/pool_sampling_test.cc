// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/pretrain/pool_sampling.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "bayloom/base/result.h"
#include "bayloom/pretrain/operator_families.h"
#include "bayloom/tensor/operators.h"
#include "bayloom/tuning/restore.h"
#include "tests/temporary_folder.h"

namespace bayloom::pretrain {
namespace {

TEST(OperatorFamilies, EveryFamilyHasTasksWithDesignSpaces) {
  for (const std::string& family : FamilyNames()) {
    const std::vector<tensor::Workload> workloads = DrawFamily(family, 6, 1);
    EXPECT_EQ(workloads.size(), 6u) << family;
    std::set<uint64_t> hashes;
    for (const tensor::Workload& workload : workloads) {
      hashes.insert(workload.StructuralHash());
      const sketch::SpaceGenerator space(workload, target::Target{});
      ASSERT_FALSE(space.spaces().empty()) << family;
      bool any = false;
      for (uint64_t seed = 0; seed < 20 && !any; ++seed) {
        any = space.Sample(0, base::RandomStream(seed)).ok();
      }
      EXPECT_TRUE(any) << family;
    }
    EXPECT_EQ(hashes.size(), workloads.size());
    EXPECT_EQ(DrawFamily(family, 2, 1)[1].StructuralHash(), workloads[1].StructuralHash());
  }
  EXPECT_THROW(DrawFamily("conv9d", 1, 0), InputError);
}

struct SampledPool {
  std::string file;
  record::Store store;
  record::ProgramPool pool;
  sketch::SpaceGenerator space;
  record::TaskId task;
  base::ThreadPool threads{2};

  explicit SampledPool(const TemporaryFolder& folder, const tensor::Workload& workload)
      : file(folder / "pool.db"),
        store(file),
        pool(file),
        space(workload, target::Target{}),
        task(store.AddTask(workload)) {}
};

TEST(PoolSampling, FillsThePoolWithDistinctProgramsThatCanBeMadeAnew) {
  const TemporaryFolder folder;
  SampledPool p(folder, tensor::MatmulWorkload(64, 64, 64));
  EXPECT_EQ(SampleIntoPool(p.space, p.task, p.pool, {.programs = 150}, p.threads), 150);
  EXPECT_EQ(p.pool.Count(p.task), 150);
  std::set<uint64_t> hashes;
  std::map<std::string, int> origins;
  p.pool.Visit(p.task, record::ProgramPool::Part::kAll,
               [&](int64_t, std::span<const record::PoolProgram> chunk) {
                 for (const record::PoolProgram& program : chunk) {
                   hashes.insert(program.hash);
                   ++origins[program.origin];
                   const Result<tensor::Trace> trace =
                       tensor::Trace::FromJson(nlohmann::json::parse(program.trace));
                   ASSERT_TRUE(trace.ok());
                   const Result<sketch::Candidate> again =
                       p.space.Replay(program.space, *trace, base::RandomStream(0));
                   ASSERT_TRUE(again.ok());
                   EXPECT_EQ(again->hash, program.hash);
                   EXPECT_EQ(feature::ExtractFeatures(again->program), program.features);
                 }
               });
  EXPECT_EQ(hashes.size(), 150u);
  EXPECT_EQ(origins["random"], 75);
  EXPECT_EQ(origins["evolved"], 75);
}

TEST(PoolSampling, GoesOnWhereItWasInterrupted) {
  const TemporaryFolder folder;
  SampledPool p(folder, tensor::MatmulWorkload(64, 64, 64));
  int asked = 0;
  const PoolSamplingOptions options = {.programs = 400, .stop = [&] { return ++asked > 2; }};
  const int64_t first = SampleIntoPool(p.space, p.task, p.pool, options, p.threads);
  EXPECT_GT(first, 0);
  EXPECT_LT(first, 400);
  asked = -1000;
  EXPECT_EQ(SampleIntoPool(p.space, p.task, p.pool, options, p.threads), 400 - first);
  EXPECT_EQ(SampleIntoPool(p.space, p.task, p.pool, options, p.threads), 0);
}

TEST(PoolSampling, ASmallSpaceGivesWhatItHas) {
  const TemporaryFolder folder;
  tensor::WorkloadBuilder b("relu");
  SampledPool p(folder, b.Build({tensor::Map(b, "relu", b.Input("x", {4}), tensor::Relu)}));
  const int64_t found = SampleIntoPool(p.space, p.task, p.pool, {.programs = 500}, p.threads);
  EXPECT_GT(found, 0);
  EXPECT_LT(found, 500);
}

TEST(PoolSampling, TakesOverRecordedPrograms) {
  const TemporaryFolder folder;
  SampledPool p(folder, tensor::MatmulWorkload(64, 64, 64));
  const Result<sketch::Candidate> candidate = p.space.Sample(0, base::RandomStream(5));
  ASSERT_TRUE(candidate.ok());
  const record::TargetId target = p.store.AddTarget(p.space.target());
  record::RunRecord run;
  run.target = target;
  record::StoredTrial trial;
  trial.run = p.store.BeginRun(run).id;
  trial.task = p.task;
  trial.target = target;
  trial.candidate = tuning::CandidateText(*candidate);
  trial.key = candidate->hash;
  trial.proposer = "random";
  trial.outcome = trial::Outcome::Feasible(0.001);
  p.store.AddTrial(trial);
  EXPECT_EQ(AddRecordedPrograms(p.space, p.store, p.pool), 1);
  EXPECT_EQ(AddRecordedPrograms(p.space, p.store, p.pool), 0);
  EXPECT_EQ(p.pool.At(p.task, std::vector<int64_t>{0})[0].hash, candidate->hash);
}

}  // namespace
}  // namespace bayloom::pretrain
