// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// A space of 1e11 combinations with 1e8 feasible ones: a blocked matrix product on a GPU, with the
// divisibility rules and the local-memory limit of such kernels. Its trees must be there within
// seconds and take hundreds of MB at most.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include "bayloom/space/space.h"
#include "benchmarks/must.h"

namespace bayloom {
namespace {

std::vector<double> Multiples(int of, int count) {
  std::vector<double> values;
  for (int i = 1; i <= count; ++i) values.push_back(of * i);
  return values;
}

std::shared_ptr<const space::Space> MatrixProduct() {
  space::Space::Builder builder;
  builder.Add(space::MakeOrdinal("MWG", Multiples(8, 16)))
      .Add(space::MakeOrdinal("NWG", Multiples(8, 16)));
  builder.Add(space::MakeOrdinal("KWG", Multiples(8, 8)));
  for (const char* name : {"MDIMC", "NDIMC", "MDIMA", "NDIMB"}) {
    builder.Add(space::MakeInteger(name, 1, 16));
  }
  for (const char* name : {"KWI", "VWM", "VWN"})
    builder.Add(space::MakeOrdinal(name, {1, 2, 4, 8}));
  for (const char* name : {"STRM", "STRN", "SA", "SB"}) builder.Add(space::MakeInteger(name, 0, 1));
  for (const char* text :
       {"KWG % KWI == 0", "MWG % (MDIMC * VWM) == 0", "NWG % (NDIMC * VWN) == 0",
        "MWG % (MDIMA * VWM) == 0", "NWG % (NDIMB * VWN) == 0",
        "KWG % ((MDIMC * NDIMC) / MDIMA) == 0", "KWG % ((MDIMC * NDIMC) / NDIMB) == 0",
        "(SA * KWG * MWG + SB * KWG * NWG) * 4 <= 32768"}) {
    Must(builder.AddConstraint(text));
  }
  return Must(builder.Build());
}

void BM_Build(benchmark::State& state) {
  double feasible = 0;
  for (auto _ : state) feasible = MatrixProduct()->CountFeasible();
  const auto space = MatrixProduct();
  double combinations = 1;
  for (int i = 0; i < space->size(); ++i) {
    combinations *= static_cast<double>(space->parameter(i).Cardinality());
  }
  int64_t nodes = 0;
  for (const space::Tree& tree : space->chain().trees()) nodes += tree.nodes();
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  state.counters["combinations"] = combinations;
  state.counters["feasible"] = feasible;
  state.counters["nodes"] = static_cast<double>(nodes);
  state.counters["peak_MB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}
BENCHMARK(BM_Build)->Unit(benchmark::kMillisecond);

/// One configuration of the matrix product's space at a time.
void BM_Sample(benchmark::State& state) {
  const auto space = MatrixProduct();
  base::RandomStream random(1);
  for (auto _ : state) benchmark::DoNotOptimize(space->Sample(random));
}
BENCHMARK(BM_Sample);

void BM_Contains(benchmark::State& state) {
  const auto space = MatrixProduct();
  base::RandomStream random(1);
  const space::Configuration drawn = *space->Sample(random);
  for (auto _ : state) benchmark::DoNotOptimize(space->Contains(drawn));
}
BENCHMARK(BM_Contains);

void BM_Neighbours(benchmark::State& state) {
  const auto space = MatrixProduct();
  base::RandomStream random(1);
  space::Configuration at = *space->Sample(random);
  double found = 0;
  for (auto _ : state) {
    const std::vector<space::Configuration> neighbours = space->Neighbours(at, random);
    found += static_cast<double>(neighbours.size());
    at =
        neighbours[static_cast<size_t>(random.UniformInt(static_cast<int64_t>(neighbours.size())))];
  }
  state.counters["neighbours"] = benchmark::Counter(found, benchmark::Counter::kAvgIterations);
}
BENCHMARK(BM_Neighbours);

}  // namespace
}  // namespace bayloom
