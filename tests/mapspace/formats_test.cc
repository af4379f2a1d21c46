// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bayloom/base/file.h"
#include "bayloom/base/result.h"
#include "bayloom/mapspace/constraints.h"
#include "bayloom/mapspace/formats/layer_list.h"
#include "bayloom/mapspace/formats/maestro.h"
#include "bayloom/mapspace/formats/zigzag.h"
#include "bayloom/mapspace/mapspace.h"
#include "bayloom/mapspace/model.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "tests/message_of.h"
#include "tests/temporary_folder.h"

namespace bayloom::mapspace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// An array of 4 x 8 with registers of outputs, weights for every column, and a shared buffer.
const char* const kAccelerator = R"(name: small
memories:
  column:
    {size: 1024, r_cost: 2, w_cost: 3, area: 0, latency: 1, operands: [I2],
     ports: [{name: r_port_1, type: read, bandwidth_min: 8, bandwidth_max: 32, allocation: ["I2, tl"]},
             {name: w_port_1, type: write, bandwidth_min: 8, bandwidth_max: 16,
              allocation: ["I2, fh"]}],
     served_dimensions: [D2]}
  registers:
    {size: 32, r_cost: 0.5, w_cost: 0.25, area: 0, latency: 1, operands: [O],
     ports: [{name: r_port_1, type: read, bandwidth_min: 16, bandwidth_max: 16, allocation: []},
             {name: r_port_2, type: read, bandwidth_min: 16, bandwidth_max: 16, allocation: []},
             {name: w_port_1, type: write, bandwidth_min: 16, bandwidth_max: 16, allocation: []}],
     served_dimensions: []}
  dram:
    {size: 1000000, r_cost: 700, w_cost: 750, area: 0, latency: 1, operands: [I1, I2, O],
     ports: [{name: rw_port_1, type: read_write, bandwidth_min: 64, bandwidth_max: 64,
              allocation: []}],
     served_dimensions: [D1, D2], force_double_buffering: True}
operational_array:
  {unit_energy: 0.04, unit_area: 1, dimensions: [D1, D2], sizes: [4, 8]}
)";

Architecture ReadAccelerator(const std::string& text) {
  return ParseArchitectureYaml(text, "small.yaml");
}

/// `text` with one part in place of another.
std::string With(std::string text, const std::string& part, const std::string& replacement) {
  const size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), replacement);
}

TEST(ZigzagArchitecture, BecomesLevelsFromTheInsideOut) {
  const Architecture read = ReadAccelerator(kAccelerator);
  EXPECT_EQ(read.name, "small");
  EXPECT_EQ(read.arithmetic.instances, 32);
  EXPECT_EQ(read.arithmetic.mesh_x, 4);
  EXPECT_EQ(read.arithmetic.mac_energy_pj, 0.04);
  ASSERT_EQ(read.levels.size(), 3u);
  const StorageLevel& registers = read.levels[0];
  EXPECT_EQ(registers.name, "registers");
  EXPECT_EQ(registers.instances, 32);
  EXPECT_EQ(registers.words, 4);
  EXPECT_EQ(registers.block_words, 2);
  EXPECT_EQ(registers.read_bandwidth, 4);  // of two ports
  EXPECT_EQ(registers.write_bandwidth, 2);
  EXPECT_EQ(registers.access_energy_pj, 0.5);
  EXPECT_EQ(registers.WriteEnergyPj(), 0.25);
  const StorageLevel& column = read.levels[1];
  EXPECT_EQ(column.instances, 4);  // one for each place along D1
  EXPECT_EQ(column.block_words, 1);
  EXPECT_EQ(column.access_energy_pj, 2 * 8.0 / 32);
  EXPECT_EQ(column.WriteEnergyPj(), 3 * 8.0 / 16);
  EXPECT_EQ(read.FanoutOf(1), (Fanout{1, 8}));
  const StorageLevel& dram = read.levels[2];
  EXPECT_EQ(dram.words, 62500);  // half of it
  EXPECT_EQ(dram.shared_bandwidth, 8);
  EXPECT_EQ(read.FanoutOf(2), (Fanout{4, 1}));
}

/// Every memory keeps its operands and lets others pass.
TEST(ZigzagArchitecture, KeepsWhatItsOperandsAre) {
  const Architecture read = ReadAccelerator(kAccelerator);
  ASSERT_EQ(read.constraints.size(), 3u);
  EXPECT_EQ(read.constraints[0].target, "registers");
  EXPECT_THAT(read.constraints[0].keep, ElementsAre("Outputs"));
  EXPECT_THAT(read.constraints[0].bypass, ElementsAre("Inputs", "Weights"));
  const Problem matmul = MatmulProblem(4, 4, 4);
  const Mapspace mapspace(matmul, read);  // resolves the constraints
  EXPECT_EQ(mapspace.architecture().levels.size(), 3u);
}

TEST(ZigzagArchitecture, RefusesWhatWouldMeanSomethingElse) {
  const auto refusal = [](const std::string& part, const std::string& replacement) {
    return MessageOf([&] { (void)ReadAccelerator(With(kAccelerator, part, replacement)); });
  };
  EXPECT_THAT(refusal("served_dimensions: []", "served_dimensions: [D1]"),
              HasSubstr("serves D1, and 'column' D2: neither stands within the other"));
  EXPECT_THAT(refusal("r_cost: 2,", "auto_cost_extraction: True,"), HasSubstr("CACTI"));
  EXPECT_THAT(refusal("unit_area: 1", "is_imc: True"), HasSubstr("compute in memory"));
  EXPECT_THAT(refusal("size: 1024", "size: 1023"), HasSubstr("no multiple of words of 8 bits"));
  EXPECT_THAT(refusal("{name: r_port_2, type: read, bandwidth_min: 16, bandwidth_max: 16",
                      "{name: r_port_2, type: read, bandwidth_min: 16, bandwidth_max: 32"),
              HasSubstr("is not as wide as another"));
  EXPECT_THAT(refusal("[I1, I2, O]", "[I1, O]"), HasSubstr("outermost memory"));
  EXPECT_THAT(refusal("served_dimensions: [D2]", "served_dimensions: [D3]"),
              HasSubstr("small.yaml:8:26: memories.column.served_dimensions[0]: the array has no "
                        "dimension 'D3'"));
}

class LayerFiles : public testing::Test {
 protected:
  std::vector<NamedProblem> Read(const std::string& name, const std::string& text) const {
    base::WriteFile(folder_ / name, text);
    return ReadLayers(folder_ / name);
  }
  TemporaryFolder folder_;
};

const char* const kWorkload = R"(- id: 0
  name: first
  operator_type: Conv
  equation: O[b][k][oy][ox]+=W[k][c][fy][fx]*I[b][c][iy][ix]
  dimension_relations: [ix=2*ox+1*fx, iy=1*oy+1*fy]
  loop_dims: [B, K, C, OY, OX, FY, FX]
  loop_sizes: [1, 64, 3, 112, 56, 7, 7]
  operand_precision: {W: 4, I: 8, O: 16, O_final: 8}
- id: 1
  operator_type: Pooling
  equation: O[b][g][oy][ox]+=W[fx][fy]*I[b][g][iy][ix]
  dimension_relations: [ix=2*ox+1*fx, iy=2*oy+1*fy]
  loop_dims: [B, G, OY, OX, FX, FY]
  loop_sizes: [1, 64, 56, 56, 3, 3]
  operand_precision: {W: 0, I: 8, O: 16, O_final: 8}
- id: 2
  operator_type: Add
  equation: O[b][g][oy][ox]=W[b][g][oy][ox]+I[b][g][oy][ox]
  loop_dims: [B, G, OY, OX]
  loop_sizes: [1, 64, 56, 56]
  operand_precision: {W: 8, I: 8, O: 16, O_final: 8}
- id: 3
  operator_type: Gemm
  equation: O[d0][d1]+=I[d0][d2]*W[d2][d1]
  loop_dims: [D0, D1, D2]
  loop_sizes: [128, 64, 32]
  operand_precision: {W: 8, I: 8, O: 32, O_final: 8}
)";

TEST_F(LayerFiles, OfZigzagAreTheirEquations) {
  const std::vector<NamedProblem> layers = Read("layers.yaml", kWorkload);
  ASSERT_EQ(layers.size(), 2u);  // pools and additions multiply nothing
  EXPECT_EQ(layers[0].name, "first");
  const Problem& conv = layers[0].problem;
  EXPECT_EQ(conv.Macs(), int64_t{64} * 3 * 112 * 56 * 49);
  ASSERT_EQ(conv.tensors.size(), 3u);
  EXPECT_EQ(conv.tensors[0].name, "Weights");
  EXPECT_EQ(conv.tensors[0].word_bits, 4);
  EXPECT_EQ(conv.tensors[2].word_bits, 16);
  EXPECT_TRUE(conv.tensors[2].read_write);
  // 2 * 56 + 7 - 2 columns, 112 + 7 - 1 rows.
  Extents whole;
  whole.fill(1);
  for (int d = 0; d < conv.DimensionCount(); ++d) whole[d] = conv.bounds[d];
  EXPECT_EQ(conv.tensors[1].BoxWords(whole), 3 * 118 * 117);
  EXPECT_EQ(layers[1].name, "layer 3");
  EXPECT_EQ(layers[1].problem.Macs(), 128 * 64 * 32);
}

TEST_F(LayerFiles, OfZigzagAreRefusedInOneLine) {
  const std::pair<const char*, const char*> cases[] = {
      {"[k][c][fy][fx]", "[k][c][fy][fz]"},  // no such dimension
      {"ix=2*ox+1*fx", "ix=x*ox+1*fx"},
      {"ix=2*ox+1*fx", "ix=2*ow+1*fx"},
      {"W: 4, ", "W: 4, I: 8, "},
      {"[1, 64, 3, 112, 56, 7, 7]", "[1, 64, 3]"},
      {"+=W[k]", "+=V[k]"},
      {"*I[b][c][iy][ix]", "*I[b][c][iy][ix]*W[k]"},
  };
  for (const auto& [part, replacement] : cases) {
    const std::string message =
        MessageOf([&] { (void)Read("layers.yaml", With(kWorkload, part, replacement)); });
    EXPECT_THAT(message, HasSubstr("layers.yaml:")) << replacement;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
  EXPECT_THAT(MessageOf([&] { (void)Read("layers.yaml", "problem: {}\n"); }),
              HasSubstr("expected a list of layers"));
}

TEST_F(LayerFiles, OfMaestroHaveInputsWithPadding) {
  const std::vector<NamedProblem> layers = Read("net.m", R"(// a comment
Constant Wide 128;
Network Small {
  Layer CONV1 {
    Type: CONV
    Stride { X: 2, Y: 2 }  // of both axes
    Dimensions { K: 64, C: 3 R: 7, S: 7, Y:224, X:224 }
  }
  Layer DW { Type: DSCONV Dimensions { K: 1, C: Wide, R: 3, S: 3, Y: 30, X: 16 } }
  Layer FC-1-a { Type: GEMM Dimensions { M: 10, N: 20, K: Wide } }
}
)");
  ASSERT_EQ(layers.size(), 3u);
  EXPECT_EQ(layers[0].problem, ParseProblem("conv2d:224x224x3,64,7x7,stride=2"));
  EXPECT_EQ(layers[1].problem, ParseProblem("depthwise:30x16x128,3x3"));
  EXPECT_EQ(layers[2].problem, ParseProblem("matmul:10,20,128"));
  EXPECT_EQ(layers[2].name, "FC-1-a");
}

TEST_F(LayerFiles, OfMaestroAreRefusedInOneLine) {
  const std::pair<const char*, const char*> cases[] = {
      {"Network A {\n Layer B {\n Type: TRCONV } }",
       "net.m:3: layers of type 'TRCONV' are not read"},
      {"Network A { Layer B { Type: CONV Dataflow { } } }", "dataflows are not read"},
      {"Network A { Layer B { Type: CONV Dimensions { K: 1, C: x } } }", "expected a whole number"},
      {"Network A { Layer B { Type: GEMM Dimensions { M: 1, N: 1 } } }", "lacks dimension K"},
      {"Network A { Layer B { Type: GEMM Dimensions { M: 1, N: 1, K: 1, G: 2 } } }",
       "dimension G of the layer before is not read"},
      {"Network A { Layer B { Type: CONV Dimensions { K: 1, C: 1, R: 3, S: 3, Y: 2, X: 4 } } }",
       "exceeds its input"},
      {"Network A {", "ends too early"},
      {"Network A { }", "has no layer"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(MessageOf([&] { (void)Read("net.m", text); }), HasSubstr(message)) << text;
  }
}

TEST(MaestroArchitecture, HasTwoBuffersOfHalfTheirSize) {
  const Architecture read = ParseMaestroArchitecture(
      "num_pes: 256\nl1_size_cstr: 100\nl2_size_cstr: 3000\nnoc_bw_cstr: 1000\noffchip_bw_cstr: "
      "50\n",
      "data/accelerator_1.m");
  EXPECT_EQ(read.name, "accelerator_1");
  ASSERT_EQ(read.levels.size(), 3u);
  EXPECT_EQ(read.levels[0].words, 50);
  EXPECT_EQ(read.levels[0].instances, 256);
  EXPECT_EQ(read.levels[1].words, 1500);
  EXPECT_EQ(read.levels[1].read_bandwidth, 1000);
  EXPECT_EQ(read.levels[2].write_bandwidth, 50);
  EXPECT_EQ(read.levels[2].access_energy_pj, DramAccessEnergy(16));
  EXPECT_EQ(
      MessageOf([] { (void)ParseMaestroArchitecture("num_pes: 4\nNoC_NumHops: 2\n", "a.m"); }),
      "a.m:2: latencies of networks are not counted");
  EXPECT_EQ(MessageOf([] { (void)ParseMaestroArchitecture("num_pes: 4\n", "a.m"); }),
            "a.m:2: 'l1_size_cstr' is missing");
}

/// What is written costs what writing costs; ports that do both are as slow as both together.
TEST(StorageLevel, WritesAtAnEnergyAndReadsWithinABandwidthOfTheirOwn) {
  Architecture architecture = ShippedArchitecture("gemmini");
  const Problem problem = MatmulProblem(16, 16, 16);
  const Mapping mapping = OutermostMapping(problem, architecture);
  const Evaluation plain = AnalyticalModel(problem, architecture).Evaluate(mapping);
  double expected = plain.energy_pj;
  const LevelTraffic& level = plain.levels[1];
  for (const TensorTraffic& traffic : level.tensors) {
    for (const int64_t words : {traffic.fills, traffic.updates}) {
      const int64_t block = architecture.levels[1].block_words;
      expected += 100.0 * static_cast<double>((words + block - 1) / block * level.instances);
    }
  }
  architecture.levels[1].write_energy_pj = architecture.levels[1].access_energy_pj + 100;
  const Evaluation priced = AnalyticalModel(problem, architecture).Evaluate(mapping);
  EXPECT_NEAR(priced.energy_pj, expected, 1e-9 * expected);
  EXPECT_GT(priced.energy_pj, plain.energy_pj);
  EXPECT_EQ(priced.cycles, plain.cycles);

  int64_t words = 0;
  for (const TensorTraffic& traffic : level.tensors) {
    words += traffic.reads + traffic.fills + traffic.updates;
  }
  architecture.levels[1].shared_bandwidth = 0.25;
  const Evaluation slow = AnalyticalModel(problem, architecture).Evaluate(mapping);
  EXPECT_NEAR(static_cast<double>(slow.cycles), 4.0 * static_cast<double>(words), 1);

  const Architecture again =
      ParseArchitectureYaml(PrintArchitectureYaml(architecture), "again.yaml");
  EXPECT_EQ(again.levels, architecture.levels);
}

}  // namespace
}  // namespace bayloom::mapspace
