// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/mapspace.h"
#include "bayloom/mapspace/technology.h"
#include "bayloom/mapspace/timeloop_yaml.h"

namespace bayloom::mapspace {
namespace {

/// Timeloop's version 0.4: variables, inherited attributes, containers that follow each other,
/// memories beside each other.
constexpr char kNodes[] = R"(variables:
  version: 0.4
  columns: 14
  bits: 8 * 2
architecture:
  version: 0.4
  nodes:
  - !Container
    name: board
    attributes: {technology: "65nm", datawidth: bits}
  - !Component
    name: Memory
    class: DRAM
    attributes: {width: 64, read_bandwidth: 4, write_bandwidth: 4}
  - !Component
    name: Buffer
    class: smartbuffer_SRAM
    attributes:
      depth: columns * 1024 - 512
      width: 4 * datawidth
      n_banks: 32
      read_bandwidth: 16
      write_bandwidth: 16
    constraints:
      dataspace: {keep: [Inputs, Outputs], bypass: [Weights]}
  - !Container
    name: Column
    spatial: {meshX: columns}
    constraints:
      spatial: {permutation: [N, C, P, R, S, Q, M], factors: [N=1, C=1, P=1, R=1, S=1], split: 999}
  - !Container
    name: PE
    spatial: {meshY: 12}
    constraints:
      spatial: {permutation: [N, P, Q, R, S, C, M], factors: [N=1, P=1, Q=1, R=1], split: 0}
  - !Parallel
    nodes:
    - !Component
      name: InputSpad
      class: storage
      subclass: smartbuffer_RF
      attributes: {depth: 12, width: 16}
      constraints:
        dataspace: {keep: [Inputs]}
        temporal: {permutation: [N, M, C, P, Q, R, S], factors: [N=1, M=1, C=1, P=1, Q=1, R=1, S=1]}
    - !Component
      name: WeightSpad
      class: storage
      subclass: smartbuffer_RF
      attributes: {depth: 224, width: 16}
      constraints: {dataspace: {keep: [Weights]}}
    - !Component
      name: OutputSpad
      class: storage
      subclass: smartbuffer_RF
      attributes: {depth: 24, width: 16}
      constraints: {dataspace: {keep: [Outputs]}}
    - !Nothing {constraints: {dataspace: {keep: [Weights]}}}
  - !Component
    name: mac
    class: intmac
    attributes: {multiplier_width: 16, adder_width: 32}
)";

TEST(ArchitectureNodes, AreTheLevelsOfTheSameChipInVersion03) {
  const Architecture read = ParseArchitectureYaml(kNodes, "chip.yaml");
  const Architecture shipped = ShippedArchitecture("eyeriss-like");
  ASSERT_EQ(read.LevelCount(), shipped.LevelCount());
  for (int l = 0; l < read.LevelCount(); ++l) {
    // The shipped one lists its scratchpads in another order.
    const int same[] = {0, 1, 2, 3, 4, 5};
    const StorageLevel& level = read.levels[l];
    const StorageLevel& other = shipped.levels[same[l]];
    EXPECT_EQ(level.instances, other.instances) << level.name;
    EXPECT_EQ(level.mesh_x, other.mesh_x) << level.name;
    EXPECT_EQ(level.word_bits, other.word_bits) << level.name;
    EXPECT_EQ(level.block_words, other.block_words) << level.name;
    EXPECT_EQ(level.read_bandwidth, other.read_bandwidth) << level.name;
    if (level.name == "Column") continue;  // keeps nothing
    EXPECT_EQ(level.words, other.words) << level.name;
    EXPECT_EQ(level.access_energy_pj, other.access_energy_pj) << level.name;
  }
  EXPECT_EQ(read.arithmetic.instances, 168);
  EXPECT_EQ(read.arithmetic.mesh_x, 14);
  EXPECT_EQ(read.arithmetic.word_bits, 16);

  const Problem problem = ParseProblem("conv2d:16x16x8,28,3x3,pad=1");
  const Mapspace mapspace(problem, read);
  const auto constraint = [&](const char* level) -> const LevelConstraint& {
    return mapspace.constraints().levels[read.LevelNamed(level)];
  };
  const auto bit = [&](const char* name) { return uint32_t{1} << problem.TensorNamed(name); };
  EXPECT_EQ(constraint("Buffer").must_keep, bit("Inputs") | bit("Outputs"));
  EXPECT_EQ(constraint("Column").must_bypass, bit("Inputs") | bit("Outputs") | bit("Weights"));
  EXPECT_EQ(constraint("InputSpad").must_keep, bit("Inputs"));
  EXPECT_EQ(constraint("InputSpad").must_bypass, bit("Outputs") | bit("Weights"));
  // The columns' loops are the buffer's, those of the elements in one of them the column's.
  const int m = problem.DimensionNamed("M"), r = problem.DimensionNamed("R");
  EXPECT_EQ(constraint("Buffer").along_y >> m & 1, 0u);
  EXPECT_EQ(constraint("Column").along_x >> m & 1, 0u);
  EXPECT_EQ(constraint("Buffer").spatial[r], 1);
  EXPECT_EQ(constraint("Column").spatial[r], 1);
  EXPECT_EQ(constraint("Column").spatial[m], 0);  // free
  EXPECT_EQ(constraint("InputSpad").temporal[m], 1);
}

TEST(ArchitectureNodes, LeaveOutWhatIsNotEnabled) {
  const Architecture all = ParseArchitectureYaml(kNodes, "chip.yaml");
  const std::string spad = "attributes: {depth: 224, width: 16}";
  for (const std::string& without :
       {"enabled: false\n      " + spad,
        std::string("attributes: {depth: 224, width: 16, enabled: columns > 20}")}) {
    std::string text = kNodes;
    text.replace(text.find(spad), spad.size(), without);
    const Architecture read = ParseArchitectureYaml(text, "chip.yaml");
    EXPECT_EQ(read.LevelCount(), all.LevelCount() - 1) << without;
    EXPECT_EQ(read.arithmetic.instances, all.arithmetic.instances);
  }
}

TEST(ArchitectureNodes, TakeEnergiesFromATechnology) {
  const Technology node = ShippedTechnology("45nm");
  const Architecture read = ParseArchitectureYaml(kNodes, "chip.yaml", &node);
  EXPECT_DOUBLE_EQ(read.arithmetic.mac_energy_pj, node.MacEnergyPj(16));
  EXPECT_DOUBLE_EQ(read.levels[read.LevelNamed("WeightSpad")].access_energy_pj,
                   node.MemoryEnergyPj(224 * 16, 16));
}

/// Spatial loops may be named by what they spread over, as the tool's own mappings do.
TEST(ArchitectureNodes, GiveSpatialLoopsTheirNames) {
  const Architecture architecture = ParseArchitectureYaml(kNodes, "chip.yaml");
  const Problem problem = ParseProblem("conv2d:16x16x8,28,3x3,pad=1");
  const auto read = [&](const std::string& text) {
    return ParseMappingYaml("mapping:\n" + text, "map.yaml", problem, architecture);
  };
  const std::string outermost =
      "- {target: Memory, type: temporal, factors: R=3 P=16 Q=4 C=4 M=28, permutation: RPQCM}\n";
  const Mapping by_levels =
      read(outermost +
           "- {target: Buffer, type: spatial, factors: Q=4, permutation: QCMRSNP, split: 1}\n"
           "- {target: Column, type: spatial, factors: S=3 C=2, permutation: SCMRNPQ, split: 0}\n");
  const Mapping by_meshes = read(
      outermost +
      "- {target: inter_Column_spatial, type: spatial, factors: Q=4, permutation: QCMRSNP, split: "
      "1}\n"
      "- {target: PE, type: spatial, factors: S=3 C=2, permutation: SCMRNPQ, split: 0}\n"
      "- {target: inter_PE_spatial, type: temporal, factors: C1 M1, permutation: CMRSNPQ}\n"
      "- {target: inter_PE_spatial, type: datatype, keep: [], bypass: [Weights, Inputs, "
      "Outputs]}\n");
  EXPECT_EQ(by_meshes, by_levels);
  const int column = architecture.LevelNamed("Column");
  EXPECT_EQ(by_meshes.levels[column].spatial[problem.DimensionNamed("S")], 3);
  EXPECT_EQ(by_meshes.levels[column].keep, 0u);
  for (const char* wrong :
       {"- {target: inter_PE_spatial, type: temporal, factors: C=2, permutation: CMRSNPQ}\n",
        "- {target: PE, type: temporal, factors: C=2, permutation: CMRSNPQ}\n"}) {
    EXPECT_THROW((void)read(outermost + wrong), InputError) << wrong;
  }
}

TEST(ArchitectureNodes, RefuseWhatWouldChangeTheResult) {
  const auto refusal = [](const std::string& from, const std::string& to) -> std::string {
    std::string text = kNodes;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    try {
      ParseArchitectureYaml(text, "chip.yaml");
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  using testing::HasSubstr;
  EXPECT_THAT(refusal("depth: columns * 1024 - 512", "depth: colums * 1024"),
              HasSubstr("chip.yaml:19:"));
  EXPECT_THAT(refusal("depth: 12,", "depth: 12.5,"), HasSubstr("no whole number"));
  EXPECT_THAT(refusal("depth: 12,", ""), HasSubstr("needs its 'depth'"));
  EXPECT_THAT(refusal("dataspace: {keep: [Inputs]}", "dataspace: {no_coalesce: [Inputs]}"),
              HasSubstr("no_coalesce"));
  EXPECT_THAT(refusal("class: DRAM",
                      "class: DRAM\n    sparse_optimizations: "
                      "{action_optimization: [{type: hoping, target: Inputs, condition_on: []}]}"),
              HasSubstr("no optimization 'hoping'"));
  EXPECT_THAT(refusal("class: intmac", "class: adder"), HasSubstr("'depth'"));
  EXPECT_THAT(refusal("width: 4 * datawidth", "width: 3 * 8"), HasSubstr("no multiple"));
}

}  // namespace
}  // namespace bayloom::mapspace
