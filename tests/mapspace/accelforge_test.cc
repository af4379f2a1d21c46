// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/formats/accelforge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "bayloom/base/file.h"
#include "bayloom/mapspace/formats/layer_list.h"
#include "bayloom/mapspace/mapspace.h"
#include "bayloom/mapspace/model.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "tests/message_of.h"
#include "tests/temporary_folder.h"

namespace bayloom::mapspace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const char* const kAccelforgeChip = R"(arch:
  nodes:
  - !Memory
    name: Main
    size: inf
    leak_power: 0
    area: 0
    tensors: {keep: ~Intermediates, may_keep: All}
    actions:
    - {name: read, energy: 10e-12, throughput: 16e9}
    - {name: write, energy: 10e-12, throughput: 16e9}
  - !Memory
    name: Buffer
    size: 64*1024*8
    total_latency: max(a.n_calls / a.throughput for a in actions)
    tensors: {keep: input | output}
    actions:
    - {name: read, energy: 0.5e-12, throughput: 32e9}
    - {name: write, energy: 0.25e-12, throughput: 8e9}
  - !Container
    name: Array
    spatial:
    - {name: X, fanout: 4, reuse: input, min_usage: 1}
    - {name: Y, fanout: 8, reuse: output}
  - !Memory
    name: Sums
    size: 24 * 16
    bits_per_value: {output: 3 * output.bits_per_value}
    tensors: {keep: output}
    actions:
    - {name: read, energy: 24e-12, bits_per_action: 24, throughput: inf}
    - {name: write, energy: 24e-12, bits_per_action: 24, throughput: inf}
  - !Memory
    name: Register
    size: weight.bits_per_value if weight else 1
    component_class: Dummy
    tensors: {keep: weight}
  - !Compute
    name: Scalar
    actions: [{name: compute, energy: 0, throughput: 5e9}]
    enabled: len(All) == 2
  - !Compute
    name: MAC
    actions: [{name: compute, energy: 0.1e-12, throughput: 1e9}]
    enabled: len(All) == 3
)";

Architecture ReadChip(const std::string& text = kAccelforgeChip) {
  return ParseArchitectureYaml(text, "chip.yaml");
}

std::string Changed(std::string text, const std::string& part, const std::string& replacement) {
  const size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), replacement);
}

TEST(AccelforgeArchitecture, BecomesLevelsOfWordsAndCycles) {
  const Architecture chip = ReadChip();
  EXPECT_EQ(chip.name, "chip");
  ASSERT_EQ(chip.LevelCount(), 4);
  const StorageLevel& main = chip.levels[3];
  EXPECT_EQ(main.words, 0);
  EXPECT_DOUBLE_EQ(main.access_energy_pj, 80);  // 8 bits of 10 pJ
  EXPECT_FALSE(main.write_energy_pj);
  // Reads and writes follow each other: 2 words of 8 bits a cycle of a nanosecond.
  EXPECT_DOUBLE_EQ(main.shared_bandwidth, 2);
  const StorageLevel& buffer = chip.levels[2];
  EXPECT_EQ(buffer.words, 65536);
  EXPECT_DOUBLE_EQ(buffer.access_energy_pj, 4);
  EXPECT_DOUBLE_EQ(*buffer.write_energy_pj, 2);
  EXPECT_DOUBLE_EQ(buffer.read_bandwidth, 4);
  EXPECT_DOUBLE_EQ(buffer.write_bandwidth, 1);
  const StorageLevel& sums = chip.levels[1];
  EXPECT_EQ(sums.word_bits, 24);
  EXPECT_EQ(sums.words, 16);
  EXPECT_EQ(sums.instances, 32);
  EXPECT_EQ(sums.mesh_x, 4);
  EXPECT_DOUBLE_EQ(sums.access_energy_pj, 24);
  EXPECT_EQ(chip.levels[0].words, 1);
  EXPECT_EQ(chip.levels[0].access_energy_pj, 0);
  EXPECT_EQ(chip.arithmetic.name, "MAC");
  EXPECT_EQ(chip.arithmetic.instances, 32);
  EXPECT_DOUBLE_EQ(chip.arithmetic.mac_energy_pj, 0.1);
  EXPECT_EQ(chip.without_effect.size(), 3u);
  EXPECT_THAT(chip.without_effect[0], HasSubstr("chip.yaml:23"));
}

TEST(AccelforgeArchitecture, SetsSayWhatMemoriesKeep) {
  const Problem problem = MatmulProblem(16, 32, 8);
  const Mapspace mapspace(problem, ReadChip());
  const Mapping skeleton = mapspace.Skeleton();
  const int weights = problem.TensorNamed("Weights"), inputs = problem.TensorNamed("Inputs");
  const int outputs = problem.TensorNamed("Outputs");
  EXPECT_FALSE(skeleton.levels[2].Keeps(weights));
  EXPECT_TRUE(skeleton.levels[2].Keeps(inputs));
  EXPECT_TRUE(skeleton.levels[1].Keeps(outputs));
  EXPECT_FALSE(skeleton.levels[1].Keeps(inputs));
  EXPECT_TRUE(skeleton.levels[0].Keeps(weights));
  for (int l = 0; l < 4; ++l) EXPECT_EQ(mapspace.FreeKeep(l), 0u);
  // What stays free: a set that may be kept.
  const Architecture free = ReadChip(
      Changed(kAccelforgeChip, "{keep: input | output}", "{keep: ~Main, may_keep: All - weight}"));
  const Mapspace more(problem, free);
  EXPECT_EQ(more.FreeKeep(2), uint32_t{1} << inputs | uint32_t{1} << outputs);
}

TEST(AccelforgeArchitecture, RefusesWhatWouldMeanSomethingElse) {
  const auto refusal = [](const std::string& part, const std::string& replacement) {
    return MessageOf([&] { (void)ReadChip(Changed(kAccelforgeChip, part, replacement)); });
  };
  EXPECT_THAT(refusal("throughput: 16e9}", "throughput: 8e9}"),
              HasSubstr("reads and writes wait for each other, at different rates"));
  EXPECT_THAT(refusal("max(a.n_calls / a.throughput for a in actions)", "n_calls * 3"),
              HasSubstr("total_latency: expected the sum, or the maximum"));
  EXPECT_THAT(refusal("keep: input | output", "keep: inputs | output"),
              HasSubstr("is no set of input, weight, output"));
  EXPECT_THAT(refusal("size: 64*1024*8", "size: rows * 8"), HasSubstr("is no expression"));
  EXPECT_THAT(refusal("energy: 10e-12", "energy: 12.5"), HasSubstr("expected joules"));
  EXPECT_THAT(refusal("enabled: len(All) == 3", "enabled: false"),
              HasSubstr("there is no multiplier"));
  EXPECT_THAT(refusal("{output: 3 * output", "{input: 3 * output"),
              HasSubstr("words of another width"));
  EXPECT_THAT(refusal("leak_power: 0", "leek_power: 0"), HasSubstr("is 'leak_power' meant?"));
}

std::vector<NamedProblem> LayersIn(const std::string& text,
                                   const yaml::TemplateVariables& variables = {}) {
  const TemporaryFolder folder;
  base::WriteFile(folder / "net.yaml", text);
  return ReadLayers(folder / "net.yaml", variables);
}

const char* const kAccelforgeNetwork = R"(workload:
  {% set BATCH = BATCH | default(2) %}
  rank_sizes: {B: {{BATCH}}, M: 16, P: 16, H: 4, E: 8, D: 4*8}
  bits_per_value: {All: 8}
  persistent_tensors: weight - Intermediates
  einsums:
  - einsum: "I[b, m, d] = X[b, m, d]"
    is_copy_operation: True
  - "Q[b, m, h, e] = WQ[h, e, d] * I[b, m, d]"
  - "K[b, m, h, e] = I[b, m, d] * WK[h, e, d]"
  - einsum: "QK[b, m, p, h] = Q[b, m, h, e] * K[b, M: p, h, e]"
    renames: {weight: Q}
)";

TEST(AccelforgeWorkload, ReadsEinsums) {
  const std::vector<NamedProblem> layers = LayersIn(kAccelforgeNetwork);
  ASSERT_EQ(layers.size(), 3u);
  EXPECT_EQ(layers[0].name, "Q");
  const Problem& q = layers[0].problem;
  EXPECT_EQ(q.Macs(), 2 * 16 * 4 * 8 * 32);
  // The input is what an earlier einsum computes.
  EXPECT_EQ(q.tensors[q.TensorNamed("Inputs")].BoxWords(q.Whole()), 2 * 16 * 32);
  EXPECT_TRUE(q.tensors[q.TensorNamed("Outputs")].read_write);
  const Problem& qk = layers[2].problem;
  EXPECT_EQ(qk.Macs(), 2 * 16 * 16 * 4 * 8);
  // Q is called the weight; K is indexed by p along its rank M.
  const DataSpace& weights = qk.tensors[qk.TensorNamed("Weights")];
  EXPECT_EQ(weights.Indexed() >> qk.DimensionNamed("p") & 1, 0u);
  EXPECT_EQ(LayersIn(kAccelforgeNetwork, {{"BATCH", "5"}})[0].problem.Macs(), 5 * 16 * 4 * 8 * 32);
}

TEST(AccelforgeWorkload, ReadsProjectionsThatSlide) {
  const std::vector<NamedProblem> layers = LayersIn(R"(workload:
  rank_sizes: {P0: 28, P1: 28, C: 8, M: 16}
  einsums:
  - name: Conv
    tensor_accesses:
    - {name: I, projection: {P0: 2*p1 + r, C: c}}
    - {name: W, projection: [r, c, m]}
    - {name: O, projection: [p1, m], output: True}
    iteration_space_shape: [0 <= r < 3, 0 <= p1 < 14]
)");
  ASSERT_EQ(layers.size(), 1u);
  const Problem& conv = layers[0].problem;
  EXPECT_EQ(layers[0].name, "Conv");
  EXPECT_EQ(conv.Macs(), 14 * 3 * 8 * 16);
  EXPECT_EQ(conv.tensors[conv.TensorNamed("Inputs")].BoxWords(conv.Whole()), 29 * 8);
}

TEST(AccelforgeWorkload, RefusesInOneLine) {
  const auto refusal = [](const std::string& part, const std::string& replacement) {
    return MessageOf([&] { (void)LayersIn(Changed(kAccelforgeNetwork, part, replacement)); });
  };
  EXPECT_THAT(refusal("E: 8, ", ""), HasSubstr("the size of 'e' is in neither"));
  EXPECT_THAT(refusal("I[b, m, d] * WK[h, e, d]", "I[b, m, d] * WK[h, e, d] * Z[b]"),
              HasSubstr("more than two tensors"));
  EXPECT_THAT(refusal("{weight: Q}", "{weight: A}"), HasSubstr("does not read 'A'"));
  EXPECT_THAT(refusal("M: p", "M: p - 1"), HasSubstr("is no sum of variables"));
  EXPECT_THAT(refusal("K[b, m, h, e] =", "K b ="), HasSubstr("expected 'V[b, m]"));
  EXPECT_THAT(refusal("{All: 8}", "{Some: 8}"), HasSubstr("is of none of input"));
}

}  // namespace
}  // namespace bayloom::mapspace
