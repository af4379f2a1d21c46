// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/technology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/timeloop_yaml.h"

namespace bayloom::mapspace {
namespace {

constexpr double kKilobyte = 8 * 1024;  // bits

TEST(Technology, GivesThePublishedValuesOf45Nanometres) {
  const Technology node = ShippedTechnology("45nm");
  // Horowitz 2014: 64 bits of 8 KiB, 32 KiB and 1 MiB.
  EXPECT_NEAR(node.MemoryEnergyPj(8 * kKilobyte, 64), 10, 1e-9);
  EXPECT_NEAR(node.MemoryEnergyPj(32 * kKilobyte, 64), 20, 1e-9);
  EXPECT_NEAR(node.MemoryEnergyPj(1024 * kKilobyte, 64), 100, 1e-9);
  // A multiplication of 8 bits, an addition of 16 between those of 8 and 32.
  EXPECT_GT(node.MacEnergyPj(8), 0.2 + 0.03);
  EXPECT_LT(node.MacEnergyPj(8), 0.2 + 0.1);
  EXPECT_GT(node.MacAreaUm2(8), 282 + 36);
  EXPECT_LT(node.MacAreaUm2(8), 282 + 137);
  // 70 % of a full bank are cells; larger memories are banks.
  const double bank = 32 * kKilobyte * 0.346 / 0.7;
  EXPECT_NEAR(node.MemoryAreaUm2(32 * kKilobyte), bank, 1e-6 * bank);
  EXPECT_NEAR(node.MemoryAreaUm2(320 * kKilobyte), 10 * bank, 1e-5 * bank);
  // A handful of bits are registers.
  EXPECT_NEAR(node.MemoryAreaUm2(16), 16 * 5.98, 1e-9);
  EXPECT_NEAR(node.MemoryEnergyPj(16, 16), 16 * 0.009, 1e-9);
}

TEST(Technology, IsReadAsItWasPrinted) {
  for (const std::string& name : ShippedTechnologyNames()) {
    const Technology node = ShippedTechnology(name);
    const std::string text = PrintTechnology(node);
    const Technology read = ParseTechnology(text, "printed.yaml");
    EXPECT_EQ(PrintTechnology(read), text);
    EXPECT_EQ(read.name, name);
    for (const double bits : {16.0, 4e3, 1e6, 1e9}) {
      EXPECT_EQ(read.MemoryEnergyPj(bits, 64), node.MemoryEnergyPj(bits, 64));
      EXPECT_EQ(read.MemoryAreaUm2(bits), node.MemoryAreaUm2(bits));
    }
    EXPECT_EQ(read.MacEnergyPj(12), node.MacEnergyPj(12));
    EXPECT_EQ(read.MacAreaUm2(12), node.MacAreaUm2(12));
    EXPECT_EQ(read.dram_energy_per_bit_pj, node.dram_energy_per_bit_pj);
  }
}

TEST(Technology, GrowsWithSizeAndShrinksWithTheNode) {
  const Technology old_node = ShippedTechnology("45nm"), new_node = ShippedTechnology("7nm");
  for (const Technology& node : {old_node, new_node}) {
    double area = 0, energy = 0;
    for (double bits = 16; bits < 1e9; bits *= 1.3) {
      const double next_area = node.MemoryAreaUm2(bits), next = node.MemoryEnergyPj(bits, 64);
      EXPECT_GT(next_area, area) << node.name << " " << bits;
      EXPECT_GE(next, energy) << node.name << " " << bits;
      area = next_area;
      energy = next;
    }
    EXPECT_LT(node.MacEnergyPj(8), node.MacEnergyPj(16));
    EXPECT_LT(node.MacAreaUm2(8), node.MacAreaUm2(16));
  }
  EXPECT_LT(new_node.MacEnergyPj(8), old_node.MacEnergyPj(8));
  for (const std::string& name : ShippedArchitectureNames()) {
    const Architecture architecture = ShippedArchitecture(name);
    const double area = AreaOf(architecture, old_node);
    EXPECT_GT(area, 0.01) << name;
    EXPECT_LT(area, name == "tpu-like" ? 1000 : 20) << name;  // mm2
    EXPECT_LT(AreaOf(architecture, new_node), 0.1 * area) << name;
  }
}

TEST(Technology, PricesAnArchitectureWhereItsFileDoesNot) {
  const Technology node = ShippedTechnology("45nm");
  const std::string text =
      "arch:\n"
      "  arithmetic: {instances: 4, word-bits: 8}\n"
      "  storage:\n"
      "  - {name: Registers, entries: 64, instances: 4, word-bits: 8}\n"
      "  - {name: Given, entries: 4096, word-bits: 8, vector-access-energy: 3.5}\n"
      "  - {name: Extra, entries: 65536, word-bits: 8, enabled: false}\n"
      "  - {name: DRAM, technology: DRAM, word-bits: 8, block-size: 8}\n"
      "  constraints:\n"
      "  - {target: Extra, type: bypass, keep: [Weights], bypass: []}\n"
      "  - {target: Given, type: bypass, keep: [Weights], bypass: []}\n";
  const Architecture priced = ParseArchitectureYaml(text, "chip.yaml", &node);
  ASSERT_EQ(priced.LevelCount(), 3);  // without what is not enabled, and what is said of it
  ASSERT_EQ(priced.constraints.size(), 1u);
  EXPECT_EQ(priced.constraints[0].target, "Given");
  EXPECT_DOUBLE_EQ(priced.arithmetic.mac_energy_pj, node.MacEnergyPj(8));
  EXPECT_DOUBLE_EQ(priced.levels[0].access_energy_pj, node.MemoryEnergyPj(64 * 8, 8));
  EXPECT_DOUBLE_EQ(priced.levels[1].access_energy_pj, 3.5);
  EXPECT_DOUBLE_EQ(priced.levels[2].access_energy_pj, 64 * 20.3);
  const double memories = 4 * node.MemoryAreaUm2(64 * 8) + node.MemoryAreaUm2(4096 * 8);
  EXPECT_DOUBLE_EQ(AreaOf(priced, node), (4 * node.MacAreaUm2(8) + memories) / 1e6);
  // Without a technology: the public table, as ever.
  EXPECT_DOUBLE_EQ(ParseArchitectureYaml(text, "chip.yaml").arithmetic.mac_energy_pj, MacEnergy(8));
}

TEST(Technology, RefusesTablesThatSayTooLittle) {
  EXPECT_THROW(LoadTechnology("3nm"), InputError);
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      ParseTechnology(text, "node.yaml");
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal("technology: {name: mine, multiplier: [{bits: 8, energy: 1, area: 1}]}"),
              testing::HasSubstr("at least two entries"));
  EXPECT_THAT(refusal("technology:\n  name: mine\n  multiplier:\n"
                      "  - {bits: 8, energy: 1, area: 1}\n  - {bits: 8, energy: 2, area: 2}\n"),
              testing::HasSubstr("node.yaml:5:"));
  EXPECT_THAT(refusal("technology: {name: mine, wires: 3}"), testing::HasSubstr("wires"));
}

}  // namespace
}  // namespace bayloom::mapspace
