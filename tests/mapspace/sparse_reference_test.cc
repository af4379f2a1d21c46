// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Figures that Sparseloop's public repositories ship as reference outputs; the inputs are our
// own. benchmarks/mapspace/sparse_agreement.py compares all of them.

#include <gtest/gtest.h>

#include "bayloom/mapspace/sparse/sparse_model.h"
#include "bayloom/mapspace/timeloop_yaml.h"

namespace bayloom::mapspace {
namespace {

struct Reference {
  Problem problem;
  Architecture architecture;
  Evaluation evaluation;
  std::unique_ptr<const SparseEvaluation> sparse;

  Reference(const std::string& problem_yaml, const std::string& chip,
            const std::string& mapping_yaml)
      : problem(ParseProblemYaml(problem_yaml, "problem.yaml")),
        architecture(ParseArchitectureYaml(chip, "chip.yaml")) {
    const AnalyticalModel model(problem, architecture, ReuseCounting::kTimeloop);
    const Mapping mapping = ParseMappingYaml(mapping_yaml, "mapping.yaml", problem, architecture);
    const Status fits = model.CheckFit(mapping);
    EXPECT_TRUE(fits.ok()) << (fits.ok() ? "" : fits.error().message);
    evaluation = model.Evaluate(mapping);
    sparse = model.EvaluateSparse(mapping);
  }

  const SparseTraffic& At(const char* level, const char* tensor) const {
    return sparse->levels[architecture.LevelNamed(level)][problem.TensorNamed(tensor)];
  }
};

void ExpectCounts(const ActionCounts& counts, int64_t dense, int64_t actual, int64_t skipped) {
  EXPECT_EQ(counts.dense, dense);
  EXPECT_EQ(counts.actual, actual);
  EXPECT_EQ(counts.skipped, skipped);
  EXPECT_EQ(counts.gated, 0);
}

void ExpectRank(const RankAccesses& accesses, int64_t metadata, int64_t payload) {
  EXPECT_EQ(accesses.metadata, metadata);
  EXPECT_EQ(accesses.payload, payload);
}

constexpr char kMatmul[] = R"(problem:
  shape:
    name: matmul
    dimensions: [M, N, K]
    data-spaces:
    - {name: A, projection: [[[M]], [[K]]]}
    - {name: B, projection: [[[N]], [[K]]]}
    - {name: Z, projection: [[[M]], [[N]]], read-write: True}
  instance: {M: 8, N: 8, K: 8, densities: {A: 0.25, B: 0.5}}
)";

constexpr char kTwoLevels[] = R"(arch:
  arithmetic: {name: mac, word-bits: 8}
  storage:
  - {name: Buffer, entries: 64, word-bits: 8, read_bandwidth: 5, write_bandwidth: 5,
     metadata_datawidth: 4, metadata_storage_width: 4, metadata_storage_depth: 64}
  - {name: Backing, entries: 2048, word-bits: 8, block-size: 4, metadata_datawidth: 4,
     metadata_storage_width: 4, metadata_storage_depth: 128}
sparse_optimizations:
  targets:
  - name: Backing
    representation-format:
      data-spaces:
      - {name: A, ranks: [{format: UOP}, {format: CP}]}
      - {name: B, ranks: [{format: UOP}, {format: UOP}, {format: CP}]}
  - name: Buffer
    representation-format:
      data-spaces:
      - {name: B, ranks: [{format: UOP}, {format: CP}]}
    action-optimization:
    - {type: skipping, target: A, condition-on: [B]}
    - {type: skipping, target: B, condition-on: [A]}
    - {type: skipping, target: Z, condition-on: [A, B]}
)";

// timeloop-accelergy-exercises, sparseloop/02.2.2-spMspM-tiled, ref_outputs: two compressed
// operands that skip each other; A is only in the backing storage.
TEST(SparseReference, TwoSidedIntersectionOfTiledMatrices) {
  const Reference tiled(kMatmul, kTwoLevels, R"(mapping:
- {target: Backing, type: temporal, factors: K=1 M=1 N=4, permutation: MNK}
- {target: Buffer, type: temporal, factors: K=8 M=8 N=2, permutation: MNK}
- {target: Buffer, type: bypass, keep: [B, Z], bypass: [A]}
)");
  EXPECT_EQ(tiled.evaluation.cycles, 64);
  ExpectCounts(tiled.sparse->computes, 512, 64, 0);
  const SparseTraffic& a = tiled.At("Backing", "A");
  ExpectCounts(a.reads, 512, 64, 64);
  EXPECT_EQ(a.occupancy, 16);
  ExpectRank(a.ranks[1].reads.actual, 0, 36);
  ExpectRank(a.ranks[0].reads.skipped, 64, 0);
  const SparseTraffic& b = tiled.At("Backing", "B");
  EXPECT_EQ(b.occupancy, 32);
  EXPECT_EQ(b.ranks[2].occupancy.payload, 5);
  EXPECT_EQ(b.ranks[1].occupancy.payload, 36);
  EXPECT_EQ(b.ranks[0].occupancy.metadata, 32);
  const SparseTraffic& inner = tiled.At("Buffer", "B");
  ExpectCounts(inner.reads, 512, 64, 192);
  ExpectCounts(inner.fills, 64, 32, 0);
  ExpectRank(inner.ranks[1].reads.actual, 0, 72);
  ExpectRank(inner.ranks[1].reads.skipped, 0, 216);
  ExpectRank(inner.ranks[1].fills.actual, 0, 36);
  ExpectCounts(tiled.At("Buffer", "Z").reads, 448, 56, 392);
  ExpectCounts(tiled.At("Buffer", "Z").updates, 512, 64, 448);
}

constexpr char kConvolution[] = R"(problem:
  shape:
    name: grouped
    dimensions: [R, S, E, F, C, M]
    data-spaces:
    - {name: Weights, projection: [[[C]], [[M]], [[R]], [[S]]]}
    - {name: Inputs, projection: [[[C]], [[R], [E]], [[S], [F]]]}
    - {name: Outputs, projection: [[[M]], [[F]], [[E]]], read-write: True}
  instance:
    {M: 256, E: 8, F: 8, R: 1, S: 1, C: 128,
     densities: {Inputs: {distribution: hypergeometric, density: 0.83},
                 Weights: {distribution: hypergeometric, density: 0.64}}}
)";

constexpr char kEyerissV2Pe[] = R"(arch:
  arithmetic: {name: MAC, word-bits: 8}
  storage:
  - {name: reg, entries: 1, word-bits: 8, metadata_storage_width: 4, metadata_storage_depth: 1}
  - {name: psum_spad, entries: 32, word-bits: 20}
  - {name: weight_spad, entries: 192, word-bits: 8, metadata_storage_width: 8,
     metadata_storage_depth: 128}
  - {name: iact_spad, entries: 16, word-bits: 8, metadata_storage_width: 4,
     metadata_storage_depth: 25}
  - {name: Backing, technology: DRAM, word-bits: 8, block-size: 8, metadata_storage_width: 8}
sparse_optimizations:
  targets:
  - name: Backing
    representation-format:
      data-spaces:
      - name: Inputs
        rank-application-order: inner-to-outer
        ranks:
        - {format: UOP, payload-word-bits: 0}
        - {format: UOP, payload-word-bits: 0}
        - {format: UOP, payload-word-bits: 0, flattened-rankIDs: [[S, F]]}
        - {format: UOP, payload-word-bits: 0, flattened-rankIDs: [[E]]}
        - {format: UOP, payload-word-bits: 4, flattened-rankIDs: [[R]]}
        - {format: RLE, metadata-word-bits: 4, flattened-rankIDs: [[C]]}
      - name: Weights
        rank-application-order: inner-to-outer
        ranks:
        - {format: UOP, payload-word-bits: 0}
        - {format: UOP, payload-word-bits: 0}
        - {format: UOP, payload-word-bits: 7, flattened-rankIDs: [[C, R]]}
        - {format: RLE, metadata-word-bits: 4, flattened-rankIDs: [[M]]}
  - name: iact_spad
    representation-format:
      data-spaces:
      - name: Inputs
        rank-application-order: inner-to-outer
        ranks:
        - {format: UOP, payload-word-bits: 4, flattened-rankIDs: [[R]]}
        - {format: RLE, metadata-word-bits: 4, flattened-rankIDs: [[C]]}
  - name: weight_spad
    representation-format:
      data-spaces:
      - name: Weights
        rank-application-order: inner-to-outer
        ranks:
        - {format: UOP, payload-word-bits: 7, flattened-rankIDs: [[C, R]]}
        - {format: RLE, metadata-word-bits: 4, flattened-rankIDs: [[M]]}
    action-optimization:
    - {type: skipping, target: Weights, condition-on: [Inputs]}
  - name: psum_spad
    action-optimization:
    - {type: skipping, target: Outputs, condition-on: [Inputs, Weights]}
  - name: reg
    representation-format:
      data-spaces:
      - {name: Inputs, ranks: [{format: RLE, metadata-word-bits: 4}],
         rank-application-order: inner-to-outer}
  - {name: MAC, compute-optimization: [{type: skipping}]}
)";

// micro22-sparseloop-artifact, fig. 12, the processing element of Eyeriss v2 on layer 13 of
// MobileNet 0.5, ref_outputs/uniform_only. Measured: 1,144,158 cycles.
TEST(SparseReference, ProcessingElementOfEyerissV2) {
  const Reference pe(kConvolution, kEyerissV2Pe, R"(mapping:
- {target: Backing, type: temporal, factors: M=16 C=16 E=8 F=8 R=1 S=1, permutation: REFSCM}
- {target: psum_spad, type: temporal, factors: M=16 C=8 E=1 F=1 R=1 S=1, permutation: MCRSEF}
- {target: iact_spad, type: bypass, keep: [Inputs], bypass: [Weights, Outputs]}
- {target: weight_spad, type: bypass, keep: [Weights], bypass: [Inputs, Outputs]}
- {target: psum_spad, type: bypass, keep: [Outputs], bypass: [Inputs, Weights]}
- {target: reg, type: bypass, keep: [Inputs], bypass: [Weights, Outputs]}
)");
  EXPECT_EQ(pe.evaluation.cycles, 1'114'139);
  ExpectCounts(pe.sparse->computes, 2'097'152, 1'114'139, 626'661);
  ExpectCounts(pe.At("psum_spad", "Outputs").reads, 2'080'768, 1'105'433, 975'335);
  const SparseTraffic& weights = pe.At("weight_spad", "Weights");
  ExpectCounts(weights.reads, 2'097'152, 1'114'138, 228'070);
  ExpectCounts(weights.fills, 32'768, 20'972, 0);
  ExpectRank(weights.ranks[1].reads.actual, 0, 122'400);
  ExpectRank(weights.ranks[0].reads.skipped, 228'070, 0);
  ExpectRank(weights.ranks[0].fills.actual, 20'972, 0);
  const SparseTraffic& inputs = pe.At("iact_spad", "Inputs");
  ExpectCounts(inputs.fills, 131'072, 108'801, 0);
  ExpectRank(inputs.ranks[0].reads.actual, 108'801, 0);
  // Empty inputs never come to the register.
  EXPECT_EQ(pe.At("reg", "Inputs").reads.actual, 2'097'152);
  EXPECT_NEAR(pe.At("reg", "Inputs").instances, 0.83, 1e-3);
  const SparseTraffic& outer = pe.At("Backing", "Weights");
  EXPECT_EQ(outer.occupancy, 20'972);
  EXPECT_EQ(outer.ranks[2].occupancy.payload, 17.0 * 16);
}

}  // namespace
}  // namespace bayloom::mapspace
