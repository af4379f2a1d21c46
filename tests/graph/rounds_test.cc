// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/tasks/rounds.h"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>

#include "bayloom/codegen/abi.h"
#include "bayloom/codegen/host.h"
#include "bayloom/codegen/runtime/bayloom_package.h"
#include "bayloom/graph/executor.h"
#include "bayloom/graph/import.h"
#include "bayloom/graph/package.h"
#include "tests/graph/pass_checks.h"
#include "tests/graph/small_models.h"
#include "tests/graph/two_layers.h"
#include "tests/temporary_folder.h"

namespace bayloom::graph {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kNearBytes = 1 << 20;

/// (x w1) w2 beside x w3: the last product waits for neither of the others.
Graph TwoBranches() {
  GraphBuilder b("two branches");
  const tensor::Tensor x = b.Input("x", tensor::DType::kFloat32, {32, 48});
  const auto weights = [&](const char* name, uint64_t seed) {
    return b.Constant(name, RandomTensor({48, 48}, seed));
  };
  const tensor::Tensor first = Multiply(b, x, weights("w1", 1));
  const tensor::Tensor second = Multiply(b, first, weights("w2", 2));
  const tensor::Tensor beside = Multiply(b, x, weights("w3", 3));
  const tensor::Tensor both = b.Reduce(
      "max", {32}, {{"k", 48}}, tensor::Reduction::kMax,
      [&](const auto& s, const auto& r) { return second(s[0], r[0]) * beside(s[0], r[0]); });
  return b.Build({{"both", both.id()}});
}

/// Of the networks that the other tests have, those with branches and those without.
std::vector<Graph> Networks() {
  std::vector<Graph> networks;
  networks.push_back(TwoBranches());
  networks.push_back(TwoLayers());
  networks.push_back(ImportOnnx(SmallInceptionNetwork().path()));
  networks.push_back(ImportOnnx(SmallDenseNetwork().path()));
  networks.push_back(ImportOnnx(SmallConvolutionalNetwork().path()));
  networks.push_back(ImportOnnx(SmallTransformer().path()));
  return networks;
}

/// What a call reads and writes, as values that have memory of their own.
struct Effects {
  std::set<ValueId> reads, writes;

  static Effects Of(const TaskGraph& network, int number) {
    Effects effects;
    const TaskCall& call = network.calls[number];
    const tensor::Workload& workload = network.tasks[call.task].workload;
    const std::vector<tensor::BufferId> parameters = workload.Parameters();
    for (size_t i = 0; i < parameters.size(); ++i) {
      const bool written = workload.buffers[parameters[i]].role == tensor::BufferRole::kOutput;
      (written ? effects.writes : effects.reads).insert(network.storage[call.parameters[i]].whole);
    }
    return effects;
  }
};

bool Meet(const std::set<ValueId>& a, const std::set<ValueId>& b) {
  return std::ranges::any_of(a, [&](ValueId value) { return b.contains(value); });
}

TEST(Rounds, OfTwoBranchesBeginTogether) {
  const std::unique_ptr<Compiled> compiled = Compile(TwoBranches(), codegen::HostTarget(2));
  const int64_t round_bytes = (3 * 32 * 48 + 2 * 48 * 48) * 4;  // x, two results, weights
  EXPECT_THAT(OneByOne(compiled->network),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2), ElementsAre(3)));
  EXPECT_THAT(SideBySide(compiled->network, compiled->programs, round_bytes),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1), ElementsAre(3)));
  // Calls that follow each other anyway run side by side for any size of caches.
  EXPECT_THAT(SideBySide(compiled->network, compiled->programs, round_bytes - 1),
              ElementsAre(ElementsAre(0), ElementsAre(1, 2), ElementsAre(3)));
}

/// Calls of which one writes memory that the other reads keep their order.
TEST(Rounds, KeepWhatCallsDependOn) {
  int beside = 0;
  for (const Graph& graph : Networks()) {
    const std::unique_ptr<Compiled> compiled = Compile(graph, codegen::HostTarget(2));
    const TaskGraph& network = compiled->network;
    const Rounds rounds = SideBySide(network, compiled->programs, kNearBytes);
    std::map<int, int> round_of;
    std::vector<Effects> effects;
    for (size_t r = 0; r < rounds.size(); ++r) {
      beside += static_cast<int>(rounds[r].size()) - 1;
      for (int call : rounds[r]) {
        EXPECT_TRUE(round_of.emplace(call, static_cast<int>(r)).second) << call;
      }
    }
    ASSERT_EQ(round_of.size(), network.calls.size());
    for (int c = 0; c < static_cast<int>(network.calls.size()); ++c) {
      effects.push_back(Effects::Of(network, c));
      for (int before = 0; before < c; ++before) {
        if (!Meet(effects[before].writes, effects[c].reads) &&
            !Meet(effects[before].reads, effects[c].writes)) {
          continue;
        }
        EXPECT_LT(round_of[before], round_of[c]) << before << " and " << c;
      }
    }
  }
  EXPECT_GE(beside, 3);
}

TEST(Rounds, CallsOfLibraryKernelsAreAlone) {
  GraphBuilder b("sums");
  const tensor::Tensor x = b.Input("x", tensor::DType::kFloat32, {4, 24});
  const auto sums = [&](int64_t reverse) {
    return b.Call("cumsum", {4, 24}, tensor::DType::kFloat32, tensor::LibraryKernel::kScan, {x},
                  {4, 24, 1, 0, reverse, 1});
  };
  const tensor::Tensor first = sums(0), second = sums(1);
  const std::unique_ptr<Compiled> compiled =
      Compile(b.Build({{"first", first.id()}, {"second", second.id()}}), codegen::HostTarget(2));
  EXPECT_THAT(SideBySide(compiled->network, compiled->programs, kNearBytes),
              ElementsAre(ElementsAre(0), ElementsAre(1)));
}

bool Overlap(int64_t a, int64_t a_bytes, int64_t b, int64_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

/// What a call of a round writes is where no other call of it reads or writes; slices of one tensor
/// may lie between each other.
TEST(Rounds, CallsOfARoundDoNotShareMemory) {
  for (const Graph& graph : Networks()) {
    const std::unique_ptr<Compiled> compiled = Compile(graph, codegen::HostTarget(2));
    const TaskGraph& network = compiled->network;
    const NetworkPlan plan =
        PlanNetwork(network, compiled->programs, codegen::HostTarget(2), Branches::kSideBySide);
    const auto bytes = [&](ValueId value) {
      const Value& whole = network.graph.values[network.storage[value].whole];
      return whole.ElementCount() * tensor::ByteSize(whole.dtype);
    };
    const auto begin = [&](ValueId value, const Storage& storage) {
      const SlicePlace& place = network.storage[value];
      const tensor::DType dtype = network.graph.values[place.whole].dtype;
      return storage.position - place.first * tensor::ByteSize(dtype);
    };
    for (const std::vector<int>& round : plan.rounds) {
      for (int a : round) {
        const std::vector<ValueId>& written = network.calls[a].parameters;
        if (plan.calls[a].arguments.back().kind != Storage::Kind::kArena) continue;
        for (int b : round) {
          for (size_t i = 0; a != b && i < network.calls[b].parameters.size(); ++i) {
            const ValueId other = network.calls[b].parameters[i];
            if (plan.calls[b].arguments[i].kind != Storage::Kind::kArena ||
                network.storage[other].whole == network.storage[written.back()].whole) {
              continue;
            }
            EXPECT_FALSE(Overlap(begin(written.back(), plan.calls[a].arguments.back()),
                                 bytes(written.back()), begin(other, plan.calls[b].arguments[i]),
                                 bytes(other)))
                << a << " and " << b;
          }
        }
      }
    }
  }
}

/// In turn, the last product may take the memory of the first one, which nothing needs any more.
TEST(Rounds, MemoryIsPlannedForTheOrderInWhichCallsRun) {
  const std::unique_ptr<Compiled> compiled = Compile(TwoBranches(), codegen::HostTarget(2));
  const auto places = [&](Branches branches) {
    const NetworkPlan plan =
        PlanNetwork(compiled->network, compiled->programs, codegen::HostTarget(2), branches);
    return std::pair(plan.calls[0].arguments.back().position,
                     plan.calls[2].arguments.back().position);
  };
  const auto in_turn = places(Branches::kInTurn), beside = places(Branches::kSideBySide);
  EXPECT_EQ(in_turn.first, in_turn.second);
  EXPECT_GE(std::abs(beside.first - beside.second), 32 * 48 * 4);
}

TEST(Rounds, OneThreadAndGpusRunCallsInTurn) {
  const std::unique_ptr<Compiled> compiled = Compile(TwoBranches(), codegen::HostTarget(2));
  const auto rounds = [&](const target::Target& target, Branches branches) {
    return PlanNetwork(compiled->network, compiled->programs, target, branches).rounds.size();
  };
  EXPECT_EQ(rounds(codegen::HostTarget(1), Branches::kSideBySide), 4u);
  EXPECT_EQ(rounds(codegen::HostTarget(2), Branches::kSideBySide), 3u);
  EXPECT_EQ(rounds(codegen::HostTarget(2), Branches::kInTurn), 4u);
  target::Target gpu = codegen::HostTarget(2);
  gpu.triple = "nvptx64-nvidia-cuda";
  EXPECT_EQ(rounds(gpu, Branches::kSideBySide), 4u);
}

std::vector<tensor::HostTensor> ZeroOutputs(const Graph& graph) {
  std::vector<tensor::HostTensor> outputs;
  for (const GraphOutput& output : graph.outputs) {
    const Value& value = graph.values[output.value];
    outputs.push_back(tensor::HostTensor::Zeros(value.dtype, value.shape));
  }
  return outputs;
}

/// Runs a network a few times; its outputs of the last.
std::vector<tensor::HostTensor> Outputs(const Compiled& compiled, const target::Target& target,
                                        Branches branches) {
  Executor executor(compiled.network, compiled.programs, target, branches);
  const std::vector<tensor::HostTensor> inputs = RandomInputs(compiled.network.graph);
  std::vector<tensor::HostTensor> outputs = ZeroOutputs(compiled.network.graph);
  std::vector<const void*> in;
  std::vector<void*> out;
  for (const tensor::HostTensor& input : inputs) in.push_back(input.data.data());
  for (tensor::HostTensor& output : outputs) out.push_back(output.data.data());
  for (int run = 0; run < 20; ++run) executor.Run(in, out);
  std::vector<double> seconds;
  executor.RunTimed(in, out, seconds);
  for (double s : seconds) EXPECT_GT(s, 0);
  executor.Run(in, out);
  return outputs;
}

TEST(Rounds, OutputsAreTheSameBitForBit) {
  for (int threads : {2, 3, 5}) {
    const target::Target target = codegen::HostTarget(threads);
    for (const Graph& graph : Networks()) {
      const std::unique_ptr<Compiled> compiled = Compile(graph, target);
      const auto in_turn = Outputs(*compiled, target, Branches::kInTurn);
      const auto beside = Outputs(*compiled, target, Branches::kSideBySide);
      for (size_t o = 0; o < in_turn.size(); ++o) {
        EXPECT_EQ(beside[o].data, in_turn[o].data) << graph.name << ", output " << o;
      }
    }
  }
}

/// A library runs branches side by side with any number of threads.
TEST(Rounds, LibrariesHaveThemToo) {
  const Graph graph = ImportOnnx(SmallInceptionNetwork().path());
  const target::Target target = codegen::HostTarget(2);
  const std::unique_ptr<Compiled> compiled = Compile(graph, target);
  PackageVariant variant = {target, compiled->programs};
  variant.branches = Branches::kSideBySide;
  const TemporaryFolder folder;
  const Package package = WritePackage(compiled->network, {&variant, 1}, folder / "lib", "net");
  void* const library = dlopen(package.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto create = reinterpret_cast<int (*)(int, void**)>(dlsym(library, "net_create"));
  const auto run =
      reinterpret_cast<int (*)(void*, const bayloom_input*, int, const bayloom_output*, int)>(
          dlsym(library, "net_run"));
  const auto set_threads = reinterpret_cast<int (*)(int)>(dlsym(library, "net_set_threads"));
  const auto destroy = reinterpret_cast<int (*)(void*)>(dlsym(library, "net_destroy"));
  const std::vector<tensor::HostTensor> inputs = RandomInputs(compiled->network.graph);
  const tensor::HostTensor expected = Outputs(*compiled, target, Branches::kInTurn)[0];
  for (int threads : {1, 2, 4}) {
    ASSERT_EQ(set_threads(threads), BAYLOOM_OK);
    tensor::HostTensor actual = tensor::HostTensor::Zeros(expected.dtype, expected.shape);
    void* model = nullptr;
    ASSERT_EQ(create(BAYLOOM_ABI_VERSION, &model), BAYLOOM_OK);
    const bayloom_input in = {inputs[0].data.data(), inputs[0].data.size(), nullptr};
    const bayloom_output out = {actual.data.data(), actual.data.size(), nullptr};
    EXPECT_EQ(run(model, &in, 1, &out, 1), BAYLOOM_OK);
    EXPECT_EQ(actual.data, expected.data) << threads;
    EXPECT_EQ(destroy(model), BAYLOOM_OK);
  }
}

}  // namespace
}  // namespace bayloom::graph
