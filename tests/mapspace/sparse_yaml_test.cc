// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/model.h"
#include "bayloom/mapspace/timeloop_yaml.h"

namespace bayloom::mapspace {
namespace {

using testing::HasSubstr;

constexpr char kChip[] = R"(
architecture:
  version: 0.3
  name: chip
  subtree:
  - name: system
    local:
    - name: DRAM
      class: DRAM
      attributes: {word-bits: 8, block-size: 8, metadata_storage_width: 64}
    - name: Buffer
      class: SRAM
      attributes: {entries: 64, word-bits: 8, metadata_storage_width: 4, metadata_storage_depth: 32,
                   metadata_datawidth: 4, gated_access_energy: 0.5}
    - name: mac
      class: intmac
      attributes: {datawidth: 8, gated_energy: 0.1}
sparse_optimizations:
  targets:
  - name: DRAM
    representation-format:
      data-spaces:
      - name: Weights
        ranks:
        - {format: UOP, payload-word-bits: 0}
        - {format: cp, metadata-word-bits: 4, flattened-rankIDs: [[K, J], [I]]}
        rank-application-order: inner-to-outer
  - name: Buffer
    action_optimization:
    - {type: gating, target: Inputs, condition_on: [Weights]}
    - type: skipping
      options:
      - {target: Outputs, condition-on: [Weights, Inputs]}
  - name: mac
    compute_optimization: [{type: gating}, {type: skipping}]
)";

TEST(SparseYaml, ReadsWhatItPrints) {
  const Architecture chip = ParseArchitectureYaml(kChip, "chip.yaml");
  ASSERT_TRUE(chip.IsSparse());
  const LevelSparsity& buffer = chip.levels[0].sparsity;
  EXPECT_EQ(buffer.actions.size(), 2u);
  EXPECT_EQ(buffer.actions[1].options[0].condition_on,
            (std::vector<std::string>{"Weights", "Inputs"}));
  EXPECT_EQ(buffer.metadata_depth, 32);
  EXPECT_GT(buffer.metadata_access_energy_pj, 0);
  const TensorFormat& format = chip.levels[1].sparsity.formats.at(0);
  EXPECT_TRUE(format.inner_to_outer);
  EXPECT_TRUE(format.IsCompressed());
  EXPECT_EQ(format.ranks[1].format, RankFormat::kCoordinatePayload);
  EXPECT_EQ(format.ranks[1].flattened.size(), 2u);
  EXPECT_TRUE(chip.arithmetic.sparsity.gates_zeros && chip.arithmetic.sparsity.skips_unaligned);

  const Architecture again = ParseArchitectureYaml(PrintArchitectureYaml(chip), "again.yaml");
  EXPECT_EQ(again.levels, chip.levels);
  EXPECT_EQ(again.arithmetic, chip.arithmetic);
}

TEST(SparseYaml, DensitiesAndWordWidthsOfTensorsAreReadAsTheyArePrinted) {
  Problem problem = MatmulProblem(8, 8, 8);
  problem.tensors[0].density = MakeDensity("hypergeometric", 0.3);
  problem.tensors[0].word_bits = 4;
  problem.tensors[1].density = ParseDensity("2:4");
  problem.tensors[2].density = MakeDensity("fixed", 0.25);
  EXPECT_EQ(ParseProblemYaml(PrintProblemYaml(problem), "problem.yaml"), problem);

  const std::string shape = R"(problem:
  version: 0.4
  shape:
    name: dot
    dimensions: [K]
    data_spaces:
    - {name: A, projection: [[[K]]]}
    - {name: Z, projection: [[[K]]], read_write: True}
  instance:
    K: 16
)";
  const Problem number = ParseProblemYaml(shape + "    densities: {A: 0.25}\n", "dot.yaml");
  EXPECT_EQ(number.tensors[0].density, MakeDensity("fixed-structured", 0.25));
  const Problem common = ParseProblemYaml(
      shape + "    commonDensity: {distribution: hypergeometric, density: 0.5}\n", "dot.yaml");
  EXPECT_EQ(common.tensors[1].density, MakeDensity("hypergeometric", 0.5));
}

std::string RefusalOf(const std::string& from, const std::string& to) {
  std::string text = kChip;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  try {
    const Architecture chip = ParseArchitectureYaml(text, "chip.yaml");
    const AnalyticalModel model(MatmulProblem(4, 4, 4), chip);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(SparseYaml, SaysWhereWhatIsWrong) {
  EXPECT_EQ(RefusalOf("Weights", "Weights"), "");
  EXPECT_THAT(RefusalOf("format: cp", "format: zip"), HasSubstr("no rank format 'zip'"));
  EXPECT_THAT(RefusalOf("type: gating,", "type: position-skipping,"),
              HasSubstr("no optimization 'position-skipping'"));
  EXPECT_THAT(RefusalOf("- name: Buffer\n    action", "- name: Bufer\n    action"),
              HasSubstr("no level 'Bufer'"));
  EXPECT_THAT(RefusalOf("target: Inputs", "target: Inputz"), HasSubstr("no tensor 'Inputz'"));
  EXPECT_THAT(RefusalOf("[[K, J], [I]]", "[[K, Q]]"), HasSubstr("no dimension 'Q'"));
  EXPECT_THAT(
      RefusalOf("{format: UOP, payload-word-bits: 0}", "{format: RLE}\n        - {format: UB}"),
      HasSubstr("inside of a compressed one"));
  EXPECT_THAT(
      RefusalOf("{format: UOP, payload-word-bits: 0}", "{format: UOP, payload-word-bits: -1}"),
      HasSubstr("chip.yaml:25"));
}

}  // namespace
}  // namespace bayloom::mapspace
