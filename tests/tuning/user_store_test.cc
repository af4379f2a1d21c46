// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/user_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "bayloom/codegen/cpu_features.h"
#include "bayloom/codegen/host.h"
#include "bayloom/target/target_json.h"
#include "bayloom/tensor/interpreter.h"
#include "bayloom/tensor/operators.h"
#include "tests/temporary_folder.h"
#include "tests/tensor/workloads.h"
#include "tests/tuning/two_cores.h"

namespace bayloom::tuning {
namespace {

sketch::Candidate Sampled(const sketch::SpaceGenerator& space, uint64_t seed) {
  for (;; ++seed) {
    Result<sketch::Candidate> candidate = space.Sample(0, base::RandomStream(seed));
    if (candidate) return *std::move(candidate);
  }
}

class UserStoreTest : public ::testing::Test {
 protected:
  UserStore Open() {
    return UserStore(path_, UserStore::Mode::kWrite,
                     [this](const std::string& warning) { warnings_.push_back(warning); });
  }
  void Add(UserStore& store, const sketch::SpaceGenerator& space, uint64_t seed, double seconds) {
    const UserStore::Known known[] = {
        {space.workload(), {Sampled(space, seed), trial::Outcome::Feasible(seconds)}}};
    store.Add("model.onnx", space.target(), known);
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "data/bayloom/programs.db";
  std::vector<std::string> warnings_;
  sketch::SpaceGenerator space_{tensor::MatmulWorkload(48, 64, 32), TwoCores()};
};

TEST_F(UserStoreTest, WhatIsFasterIsKeptAndFoundByOtherProcesses) {
  {
    UserStore store = Open();
    EXPECT_FALSE(store.Find(space_).has_value());
    Add(store, space_, 1, 2e-3);
    Add(store, space_, 100, 1e-3);
    Add(store, space_, 200, 3e-3);
  }
  UserStore again(path_, UserStore::Mode::kRead, {});
  const std::optional<MeasuredCandidate> best = again.Find(space_);
  ASSERT_TRUE(best.has_value());
  EXPECT_EQ(best->candidate.hash, Sampled(space_, 100).hash);
  EXPECT_EQ(best->outcome.value, 1e-3);
  EXPECT_TRUE(warnings_.empty());
  record::Store records(path_, record::Store::Mode::kReadOnly);
  EXPECT_EQ(records.Runs().size(), 2U) << "the slowest is not worth keeping";
}

TEST_F(UserStoreTest, OtherTargetsHaveProgramsOfTheirOwn) {
  UserStore store = Open();
  Add(store, space_, 1, 1e-3);
  target::Target other = TwoCores();
  other.cores = 1;
  EXPECT_FALSE(store.Find(sketch::SpaceGenerator(space_.workload(), other)).has_value());
}

TEST_F(UserStoreTest, SeveralWriteAtTheSameTime) {
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i) {
    writers.emplace_back([this, i] {
      UserStore store(path_, UserStore::Mode::kWrite,
                      [](const std::string& warning) { ADD_FAILURE() << warning; });
      for (int n = 0; n < 4; ++n) {
        const sketch::SpaceGenerator space(tensor::MatmulWorkload(16 + 16 * i, 16, 16 + 16 * n),
                                           TwoCores());
        Add(store, space, 1, 1e-3);
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(record::Store(path_, record::Store::Mode::kReadOnly).Tasks().size(), 16U);
}

TEST_F(UserStoreTest, ADamagedFileIsOneWarningAndNothingIsKnown) {
  std::filesystem::create_directories(folder_ / "data/bayloom");
  std::ofstream(path_) << "this is no database, but long enough to be taken for one " << 12345;
  UserStore store = Open();
  EXPECT_FALSE(store.Find(space_).has_value());
  Add(store, space_, 1, 1e-3);
  EXPECT_TRUE(store.Adapt(space_, 3).empty());
  store.AddMeasured(TwoCores(), space_.workload(), {});
  EXPECT_FALSE(store.Prior(TwoCores()).has_value());
  ASSERT_EQ(warnings_.size(), 1U);
  EXPECT_NE(warnings_[0].find("programs.db"), std::string::npos) << warnings_[0];
}

TEST_F(UserStoreTest, AFullDiskIsOneWarningAndWhatWasThereStays) {
  UserStore store = Open();
  Add(store, space_, 1, 1e-3);
  std::vector<record::MeasuredSample> measured(64);
  for (size_t i = 0; i < measured.size(); ++i) {
    const sketch::Candidate candidate = Sampled(space_, 100 * i);
    measured[i] = {i, 1e-3, feature::ExtractFeatures(candidate.program)};
  }
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit full = {4 << 10, before.rlim_max};  // less than the files have already
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &full);
  store.AddMeasured(TwoCores(), space_.workload(), measured);
  store.AddMeasured(TwoCores(), space_.workload(), measured);
  Add(store, space_, 200, 1e-4);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  ASSERT_EQ(warnings_.size(), 1U);
  EXPECT_THAT(warnings_[0],
              ::testing::MatchesRegex("the store of known programs is not used: cannot "
                                      "use .*programs.db: [^\n]*"));
  EXPECT_FALSE(store.is_open());
  UserStore again(path_, UserStore::Mode::kRead, {});
  ASSERT_TRUE(again.Find(space_).has_value());
  EXPECT_EQ(again.Find(space_)->outcome.value, 1e-3);
}

TEST_F(UserStoreTest, WhereNothingCanBeWrittenNothingIsKnown) {
  std::ofstream(folder_ / "file") << "in the way";
  UserStore store(folder_ / "file/programs.db", UserStore::Mode::kWrite,
                  [](const std::string& warning) { ADD_FAILURE() << warning; });
  Add(store, space_, 1, 1e-3);
  EXPECT_FALSE(store.Find(space_).has_value());
}

TEST_F(UserStoreTest, WithoutAPathItIsEmpty) {
  UserStore store(std::nullopt, UserStore::Mode::kWrite, {});
  Add(store, space_, 1, 1e-3);
  EXPECT_FALSE(store.Find(space_).has_value());
  EXPECT_FALSE(store.is_open());
  EXPECT_FALSE(store.Prior(TwoCores()).has_value());
  EXPECT_FALSE(store.WithMachine(TwoCores()).machine.has_value());
}

TEST_F(UserStoreTest, WhatWasMeasuredOnABusyMachineIsUsedUntilThereIsBetter) {
  const target::MachineModel provisional = target::NominalMachine(TwoCores());
  UserStore(path_, UserStore::Mode::kWrite, {});
  {
    record::Store records(path_);
    records.SetMachine(records.AddTarget(TwoCores()),
                       target::MachineModelToJson(provisional).dump());
  }
  UserStore store = Open();
  EXPECT_EQ(store.WithMachine(TwoCores()).machine, provisional) << "nothing is measured again";
  target::Target better = TwoCores();
  better.machine = provisional;
  better.machine->division *= 2;
  store.KeepMachine(better);
  EXPECT_EQ(store.WithMachine(TwoCores()).machine, better.machine);
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(UserStoreTest, CodeOfAnotherMachineIsNotRunToMeasureIt) {
  UserStore store = Open();
  const target::Target foreign = codegen::TargetNamed("aarch64-linux-gnu:cortex-a76", 1);
  if (!codegen::MissingFeature(foreign)) GTEST_SKIP() << "it is this machine";
  EXPECT_FALSE(store.WithMachine(foreign).machine);
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(UserStoreTest, TheEnvironmentNamesTheFileOrTurnsItOff) {
  setenv("BAYLOOM_STORE", "off", 1);
  EXPECT_EQ(UserStore::DefaultPath(), std::nullopt);
  setenv("BAYLOOM_STORE", "/somewhere/programs.db", 1);
  EXPECT_EQ(UserStore::DefaultPath(), "/somewhere/programs.db");
  unsetenv("BAYLOOM_STORE");
  setenv("XDG_DATA_HOME", "/data", 1);
  EXPECT_EQ(UserStore::DefaultPath(), "/data/bayloom/programs.db");
  unsetenv("XDG_DATA_HOME");
  setenv("HOME", "/home/someone", 1);
  EXPECT_EQ(UserStore::DefaultPath(), "/home/someone/.local/share/bayloom/programs.db");
  unsetenv("HOME");
  EXPECT_EQ(UserStore::DefaultPath(), std::nullopt);
  setenv("BAYLOOM_STORE", "off", 1);
}

TEST_F(UserStoreTest, ProgramsAreLentToOtherExtentsAndComputeTheRightThing) {
  UserStore store = Open();
  Add(store, space_, 1, 1e-3);
  for (const auto& [m, n, k] : {std::tuple{96, 64, 32}, {48, 40, 30}, {47, 53, 31}, {1, 64, 7}}) {
    const sketch::SpaceGenerator other(tensor::MatmulWorkload(m, n, k), TwoCores());
    for (const sketch::Candidate& adapted : store.Adapt(other, 4)) {
      EXPECT_TRUE(tensor::Validate(adapted.program));
      std::vector<tensor::HostTensor> expected =
          bayloom::testing::RandomArguments(other.workload(), 5);
      std::vector<tensor::HostTensor> actual = expected;
      tensor::Interpret(tensor::Lower(other.workload()), expected);
      tensor::Interpret(adapted.program, actual);
      EXPECT_LT(bayloom::testing::RelativeDifference(actual.back(), expected.back()), 1e-4);
    }
  }
  const sketch::SpaceGenerator larger(tensor::MatmulWorkload(96, 64, 32), TwoCores());
  ASSERT_EQ(store.Adapt(larger, 4).size(), 1U);
}

TEST(AdaptTraceTest, InnerFactorsStayWhereTheyDivideAndTheOutermostGrows) {
  const sketch::SpaceGenerator small(tensor::MatmulWorkload(48, 64, 32), TwoCores());
  const sketch::SpaceGenerator large(tensor::MatmulWorkload(192, 128, 96), TwoCores());
  const tensor::Trace known = Sampled(small, 1).trace, like = Sampled(large, 1).trace;
  ASSERT_EQ(known.SpaceHash(), like.SpaceHash());
  const Result<tensor::Trace> adapted = AdaptTrace(known, like);
  ASSERT_TRUE(adapted.ok());
  for (int step : known.SamplingSteps()) {
    std::vector<int64_t> was = known.decisions()[step]->values;
    const std::vector<int64_t>& is = adapted->decisions()[step]->values;
    if (known.instructions()[step].kind == tensor::InstructionKind::kSamplePerfectTile) {
      int64_t before = 1, after = 1;
      for (int64_t factor : was) before *= factor;
      for (int64_t factor : like.decisions()[step]->values) after *= factor;
      was[0] *= after / before;
    }
    EXPECT_EQ(is, was);
  }
}

TEST(AdaptTraceTest, OtherSpacesAreRefused) {
  const sketch::SpaceGenerator product(tensor::MatmulWorkload(48, 64, 32), TwoCores());
  const sketch::SpaceGenerator other(bayloom::testing::FindWorkload("gelu_chain"), TwoCores());
  EXPECT_FALSE(AdaptTrace(Sampled(product, 1).trace, Sampled(other, 1).trace).ok());
}

}  // namespace
}  // namespace bayloom::tuning
