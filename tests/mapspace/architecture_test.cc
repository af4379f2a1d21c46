// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/architecture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/constraints.h"
#include "bayloom/mapspace/timeloop_yaml.h"

namespace bayloom::mapspace {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

TEST(Architecture, EnergiesAreThoseOfTimeloopsPublicTable) {
  const Architecture gemmini = ShippedArchitecture("gemmini");
  ASSERT_EQ(gemmini.LevelCount(), 4);
  EXPECT_NEAR(gemmini.levels[0].access_energy_pj, 0.493718593, 1e-9);
  EXPECT_NEAR(gemmini.levels[1].access_energy_pj, 8.381909548, 1e-9);
  EXPECT_NEAR(gemmini.levels[2].access_energy_pj, 110.7135678, 1e-6);
  EXPECT_EQ(gemmini.levels[3].access_energy_pj, 6400);
  EXPECT_EQ(gemmini.arithmetic.mac_energy_pj, 0.25);
  EXPECT_EQ(gemmini.levels[2].words, 262144);
  EXPECT_EQ(gemmini.levels[3].words, 0);
}

TEST(Architecture, ShippedOnesFeedTheirMultipliers) {
  struct {
    const char* name;
    int64_t multipliers;
  } const shipped[] = {{"gemmini", 1},
                       {"gemmini16x16", 256},
                       {"eyeriss-like", 168},
                       {"simba-like", 1024},
                       {"tpu-like", 65536}};
  for (const auto& [name, multipliers] : shipped) {
    const Architecture architecture = ShippedArchitecture(name);
    EXPECT_EQ(architecture.name, name);
    EXPECT_EQ(architecture.arithmetic.instances, multipliers);
    int64_t fed = 1;
    for (int l = 0; l < architecture.LevelCount(); ++l) {
      fed *= architecture.FanoutOf(l).x * architecture.FanoutOf(l).y;
    }
    EXPECT_EQ(fed, multipliers);
    EXPECT_NO_THROW(
        ResolveConstraints(architecture.constraints, MatmulProblem(1, 1, 1), architecture));
  }
  const Architecture eyeriss = ShippedArchitecture("eyeriss-like");
  EXPECT_EQ(eyeriss.FanoutOf(eyeriss.LevelNamed("GlobalBuffer")), (Fanout{14, 1}));
  EXPECT_EQ(eyeriss.FanoutOf(eyeriss.LevelNamed("Column")), (Fanout{1, 12}));
  const Architecture tpu = ShippedArchitecture("tpu-like");
  EXPECT_EQ(tpu.FanoutOf(tpu.LevelNamed("GlobalBuffer")), (Fanout{4, 1}));
  EXPECT_EQ(tpu.FanoutOf(tpu.LevelNamed("LocalBuffer")), (Fanout{128, 128}));
  EXPECT_EQ(tpu.levels[tpu.LevelNamed("GlobalBuffer")].WriteEnergyPj(), 18.88);
  EXPECT_EQ(tpu.arithmetic.mac_energy_pj, 0.084);
  EXPECT_THAT([] { ShippedArchitecture("tpu"); },
              ThrowsMessage<InputError>(HasSubstr("gemmini, gemmini16x16")));
}

TEST(Architecture, TimeloopsFilesGoThereAndBack) {
  for (const std::string& name : ShippedArchitectureNames()) {
    const Architecture architecture = ShippedArchitecture(name);
    const Architecture back = ParseArchitectureYaml(PrintArchitectureYaml(architecture), name);
    EXPECT_EQ(back.levels, architecture.levels);
    EXPECT_EQ(back.arithmetic, architecture.arithmetic);
    EXPECT_EQ(back.constraints.size(), architecture.constraints.size());
  }
}

TEST(Architecture, TreesAreReadFromOutsideInwards) {
  const Architecture chip = ParseArchitectureYaml(R"(architecture:
  version: 0.3
  subtree:
  - name: System
    local:
    - {name: Bus, class: wire, attributes: {datawidth: 1, length: 1}}
    - {name: DRAM, class: DRAM, attributes: {word-bits: 8}}
    subtree:
    - name: Chip
      local:
      - {name: Buffer, class: SRAM, attributes: {depth: 64, width: 32, word_width: 8}}
      subtree:
      - name: PE[0..15]
        local:
        - {name: Registers, class: regfile, attributes: {entries: 16, word-bits: 8, meshX: 4}}
        - {name: MAC, class: intmac, attributes: {datawidth: 8, meshX: 4}}
)",
                                                  "chip.yaml");
  EXPECT_EQ(chip.name, "chip");
  ASSERT_EQ(chip.LevelCount(), 3);  // a bus is no memory
  EXPECT_EQ(chip.levels[0].name, "Registers");
  EXPECT_EQ(chip.levels[0].instances, 16);
  EXPECT_EQ(chip.levels[1].words, 256);
  EXPECT_EQ(chip.levels[1].block_words, 4);
  EXPECT_EQ(chip.FanoutOf(1), (Fanout{4, 4}));
  EXPECT_EQ(chip.levels[2].words, 0);
  EXPECT_EQ(chip.arithmetic.instances, 16);
  EXPECT_EQ(chip.arithmetic.mac_energy_pj, 0.25);
}

TEST(Architecture, FilesSayWhereTheyAreWrong) {
  const auto refusal = [](const std::string& text, const std::string& message) {
    EXPECT_THAT([&] { ParseArchitectureYaml(text, "a.yaml"); },
                ThrowsMessage<InputError>(HasSubstr(message)));
  };
  refusal("arch:\n  storage: []\n", "a.yaml:2:3: arch: 'arithmetic' is missing");
  const std::string head = "arch:\n  arithmetic:\n    instances: 4\n  storage:\n";
  refusal(head + "  - name: Buffer\n    sizeKB: 64k\n",
          "a.yaml:6:13: arch.storage[0].sizeKB: expected a whole number, found '64k'");
  refusal(head + "  - name: Buffer\n",
          "a.yaml:5:5: arch.storage[0]: memory 'Buffer' needs its size");
  refusal(head + "  - {name: B, entries: 4, instances: 3}\n", "level 'B' has 3 instances");
  refusal(head + "  - {name: B, entries: 4}\n  constraints:\n  - {target: B, type: bypas}\n",
          "a.yaml:7:23: arch.constraints[0].type: 'bypas' is not one of");
  refusal("architecture:\n  nodes: []\n", "there is no arithmetic unit");
  refusal(head + "  - name: B\n    entries: 4\n    vector-acess-energy: 3\n",
          "a.yaml:7:26: arch.storage[0].vector-acess-energy: is not known here; is "
          "'vector-access-energy' meant?");
  refusal(head +
              "  - {name: B, entries: 4}\n  constraints:\n"
              "  - {target: B, type: bypass, kep: [W]}\n",
          "kep: is not known here; is 'keep' meant?");
}

TEST(Constraints, LeaveOutDimensionsOfOtherLayers) {
  const std::vector<std::string> known = {"I", "J", "K", "P", "PB"};
  const Directive directive = {.kind = Directive::Kind::kSpatial,
                               .target = "PEs",
                               .factors = {{"P", 2}, {"I", 4}, {"X", 8}},
                               .permutation = "P,I,PB*KX",
                               .split = 2};
  const Directive own =
      DirectivesFor(MatmulProblem(8, 8, 8), std::vector{directive}, known).front();
  ASSERT_EQ(own.factors.size(), 2u);
  EXPECT_EQ(own.factors[0].dimension, "I");
  EXPECT_EQ(own.factors[1].dimension, "X") << "in none of them: an error of its own";
  EXPECT_EQ(own.permutation, ",I,*KX");
  EXPECT_EQ(own.split, 1) << "I along x, K along y";
}

TEST(Constraints, NameWhatTheyDoNotFind) {
  const Architecture gemmini = ShippedArchitecture("gemmini");
  const Problem problem = MatmulProblem(8, 8, 8);
  const auto refusal = [&](Directive directive, const std::string& message) {
    directive.where = "c.yaml:3: ";
    EXPECT_THAT([&] { ResolveConstraints(std::vector{directive}, problem, gemmini); },
                ThrowsMessage<InputError>(HasSubstr(message)));
  };
  const auto on = [](std::string target) {
    Directive directive;
    directive.kind = Directive::Kind::kTemporal;
    directive.target = std::move(target);
    return directive;
  };
  refusal(on("L1"), "c.yaml:3: target: there is no level 'L1'");
  Directive factors = on("DRAM");
  factors.factors = {{"Z", 4}};
  refusal(factors, "c.yaml:3: factors: there is no dimension 'Z'; there are I, J, K");
  factors.factors = {{"I", 3}};
  refusal(factors, "I=3 does not divide its bound 8");
  Directive order = on("DRAM");
  order.permutation = "IJI";
  refusal(order, "c.yaml:3: permutation 'IJI': at 'I' expected another one of I, J, K");
}

std::string FileWith(const std::string& buffer, const std::string& dram = "DRAM") {
  return "arch:\n  arithmetic: {instances: 4}\n  storage:\n  - {name: buffer, " + buffer +
         "}\n  - {name: " + dram + ", technology: DRAM}\n";
}

std::string Refusal(const std::string& text) {
  try {
    (void)ParseArchitectureYaml(text, "a.yaml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Constraints, KeysWithoutEffectAreNamed) {
  const Architecture architecture = ParseArchitectureYaml(
      "arch:\n"
      "  arithmetic: {instances: 1}\n"
      "  storage:\n"
      "    - {name: Buffer, entries: 64, min-utilization: 0.5}\n"
      "    - {name: DRAM, technology: DRAM, min-utilization: 0}\n"
      "  constraints:\n"
      "    - {target: Buffer, type: bypass, keep: [A], no-temporal-reuse: [A]}\n"
      "    - {target: DRAM, type: temporal, no_link_transfer: [], factors: M=1}\n"
      "    - {target: Buffer, type: spatial, no_multicast_no_reduction: true}\n",
      "chip.yaml");
  EXPECT_THAT(architecture.without_effect,
              ElementsAre(AllOf(HasSubstr("chip.yaml:4"), HasSubstr("min-utilization"))));
  ASSERT_EQ(architecture.constraints.size(), 3u);
  EXPECT_THAT(architecture.constraints[0].without_effect,
              ElementsAre(AllOf(HasSubstr("chip.yaml:7"), HasSubstr("no-temporal-reuse"))));
  EXPECT_THAT(architecture.constraints[1].without_effect, IsEmpty());
  EXPECT_THAT(architecture.constraints[2].without_effect,
              ElementsAre(HasSubstr("no-multicast-no-reduction")));
}

TEST(Architecture, NumbersThatNoHardwareHasAreRefused) {
  EXPECT_EQ(Refusal(FileWith("entries: 64, vector-access-energy: 2")), "");
  for (const char* energy : {".nan", ".inf", "-.inf", "nan", "-1", "1e308"}) {
    const std::string refusal =
        Refusal(FileWith(std::string("entries: 64, vector-access-energy: ") + energy));
    EXPECT_THAT(refusal, HasSubstr("a.yaml:4:")) << energy;
    EXPECT_THAT(refusal, HasSubstr("vector-access-energy: expected a number")) << energy;
  }
  for (const char* size :
       {"entries: 0", "entries: 9000000000000000000", "depth: 9000000000000000000, n_words: 1000",
        "sizeKB: 9000000000000000000", "entries: 64, instances: 9000000000000000000",
        "entries: 64, word-bits: 1000000", "entries: 64, block-size: 9000000000000000000",
        "entries: 64, read_bandwidth: -1", "entries: 64, write_bandwidth: 1e300",
        "entries: 64, multiple-buffering: 1e300"}) {
    EXPECT_THAT(Refusal(FileWith(size)), HasSubstr("a.yaml:4:")) << size;
  }
}

TEST(Architecture, AMisspeltClassIsRefused) {
  EXPECT_EQ(Refusal(FileWith("entries: 64, class: SRM")),
            "a.yaml:4:40: arch.storage[0].class: there is no class 'SRM'; is 'SRAM' meant?");
  EXPECT_THAT(Refusal(FileWith("entries: 64, class: storage, subclass: regfle")),
              HasSubstr("is 'regfile' meant?"));
  // Classes may be a user's own.
  EXPECT_EQ(Refusal(FileWith("entries: 64, class: my_SRAM_bank")), "");
  EXPECT_EQ(Refusal(FileWith("entries: 64, class: eDRAM_tile")), "");
}

TEST(Architecture, NamesAreShort) {
  EXPECT_EQ(Refusal(FileWith("entries: 64", std::string(300000, 'x'))),
            "a.yaml:5:12: arch.storage[1].name: a name has at most 200 bytes, not 300000");
}

TEST(Architecture, TreesCannotRepeatThemselves) {
  EXPECT_EQ(Refusal("arch: &a\n  name: x\n  subtree:\n  - *a\n"),
            "a.yaml:4:5: an alias stands within what it repeats");
  std::string bomb = "l0: &l0 [{name: a}]\n";
  for (int i = 1; i < 12; ++i) {
    bomb += "l" + std::to_string(i) + ": &l" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) bomb += "{name: a, subtree: *l" + std::to_string(i - 1) + "}, ";
    bomb += "]\n";
  }
  EXPECT_THAT(Refusal(bomb + "arch: {name: x, subtree: *l11}\n"),
              HasSubstr("aliases repeat more than 100000 values"));
  EXPECT_THAT(Refusal("arch: {name: x, subtree: [{name: 'a[0..999999999]', subtree: "
                      "[{name: 'b[0..999999999]'}]}]}"),
              HasSubstr("there are more than 1073741824 instances"));
}

TEST(Architecture, FactorsOfConstraintsAreReadAsTimeloopDoes) {
  const std::string constraint = "  constraints:\n  - {target: buffer, type: temporal, factors: ";
  const Architecture read =
      ParseArchitectureYaml(FileWith("entries: 64") + constraint + "'N=1 M4,C <= 16  R=0'}\n", "a");
  const std::vector<Directive::Factor>& factors = read.constraints.at(0).factors;
  ASSERT_EQ(factors.size(), 4u);
  EXPECT_EQ(factors[1].dimension, "M");
  EXPECT_EQ(factors[1].value, 4);
  EXPECT_TRUE(factors[2].at_most);
  EXPECT_EQ(factors[3].value, 0);
  for (const char* factor : {"'N=='", "'=4'", "'N=-1'", "'N=1234567890123456'", "'N=4;'"}) {
    EXPECT_THAT(Refusal(FileWith("entries: 64") + constraint + factor + "}\n"),
                HasSubstr("is no factor"));
  }
}

}  // namespace
}  // namespace bayloom::mapspace
