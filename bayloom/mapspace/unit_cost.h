// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/base/spelling.h"
#include "bayloom/mapspace/architecture.h"
#include "bayloom/mapspace/technology.h"
#include "bayloom/yaml/yaml_value.h"

namespace bayloom::mapspace {

// What the readers of Timeloop's versions share: what a unit is, going by its class, and what it
// costs where its file does not say so.

/// Instances of a unit, bits of a word, words of a block, pJ: far beyond what is built, and small
/// enough for products to be exact.
inline constexpr int64_t kMaxUnitInstances = int64_t{1} << 30;
inline constexpr int kMaxUnitBits = 4096;
inline constexpr int64_t kMaxBlockWords = int64_t{1} << 20;
inline constexpr double kMaxUnitEnergyPj = 1e12;
/// Words a cycle.
inline constexpr double kMinUnitBandwidth = 1e-12;
inline constexpr double kMaxUnitBandwidth = 1e12;

inline bool HasOneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

inline bool IsArithmeticClass(std::string_view name) {
  return HasOneOf(name, {"mac", "MAC", "compute"});
}

/// A wire or network: the public table has no energies of these.
inline bool IsNetworkClass(std::string_view name) {
  return HasOneOf(name, {"wire", "XY_NoC", "Legacy", "ReductionTree", "SimpleMulticast"});
}

/// Refuses a class that is probably one of Timeloop's, misspelt. Others may be a user's own: a
/// class that has a known one in its name is none of these.
inline void RefuseMisspeltClass(const yaml::YamlValue& kind) {
  static const std::vector<std::string_view> kKnown = {
      "DRAM",   "SRAM",  "regfile", "register",      "storage",  "buffer", "smartbuffer_RF",
      "intmac", "fpmac", "compute", "intmultiplier", "intadder", "wire",   "mac"};
  const std::string name = kind.Text();
  for (const std::string_view known : kKnown) {
    if (name.find(known) != std::string::npos) return;
  }
  const std::string_view meant = base::ClosestMatch(name, kKnown);
  if (!meant.empty()) {
    kind.Fail("there is no class '" + name + "'; is '" + std::string(meant) + "' meant?");
  }
}

/// Of one multiply-accumulate; null: by the public table.
inline double MacEnergyOf(int word_bits, const Technology* technology) {
  return technology != nullptr ? technology->MacEnergyPj(word_bits) : MacEnergy(word_bits);
}

/// Of accessing one block of a level, of which `cluster` stand side by side in one memory.
inline double AccessEnergyOf(const StorageLevel& level, int64_t cluster, bool is_dram,
                             const Technology* technology) {
  const int64_t block_bits = level.word_bits * level.block_words;
  if (technology != nullptr) {
    const auto bits = static_cast<double>(block_bits);
    if (is_dram) return technology->dram_energy_per_bit_pj * bits;
    return technology->MemoryEnergyPj(static_cast<double>(level.words) * level.word_bits, bits);
  }
  if (is_dram) return DramAccessEnergy(block_bits);
  const int64_t height = (level.words + level.block_words - 1) / level.block_words;
  return SramAccessEnergy(height, block_bits * cluster) / static_cast<double>(cluster);
}

/// A number among the attributes of a unit: its names in the versions of the format, and what it is
/// within.
struct UnitAttribute {
  std::initializer_list<std::string_view> keys;
  double low = 0;
  double high = kMaxUnitEnergyPj;
};

// What follows reads attributes that mean the same in all versions. `find` answers the number of a
// UnitAttribute, if it is given.

/// Needs the unit's bits.
template <typename Find>
void ReadArithmeticEnergies(Arithmetic& arithmetic, const Find& find,
                            const Technology* technology) {
  arithmetic.mac_energy_pj =
      find({{"energy"}}).value_or(MacEnergyOf(arithmetic.word_bits, technology));
  arithmetic.sparsity.gated_energy_pj = find({{"gated_energy"}}).value_or(0);
}

/// Where a level keeps metadata of sparse tensors, and what gated accesses cost.
template <typename Find>
void ReadMetadataStorage(LevelSparsity& sparsity, const Find& find, bool is_dram,
                         const Technology* technology) {
  const auto whole = [&](std::initializer_list<std::string_view> keys, double high) {
    return static_cast<int64_t>(std::floor(find({keys, 0, high}).value_or(0)));
  };
  sparsity.metadata_word_bits =
      static_cast<int>(whole({"metadata_datawidth", "metadata_word_bits"}, kMaxUnitBits));
  sparsity.metadata_width_bits =
      whole({"metadata_storage_width", "metadata_width"}, kMaxBlockWords);
  sparsity.metadata_depth = whole({"metadata_storage_depth", "metadata_depth"}, 0x1p40);
  sparsity.gated_access_energy_pj = find({{"gated_access_energy"}}).value_or(0);
  sparsity.fit_probability = find({{"tile_confidence"}, 0, 1}).value_or(1);
  double energy = 0;
  if (sparsity.HasMetadataStorage()) {
    StorageLevel rows;
    rows.word_bits = static_cast<int>(sparsity.metadata_width_bits);
    rows.words = std::max<int64_t>(1, sparsity.metadata_depth);
    energy = AccessEnergyOf(rows, 1, is_dram, technology);
  }
  sparsity.metadata_access_energy_pj = find({{"metadata_access_energy"}}).value_or(energy);
}

/// Energies, bandwidths and metadata of a level whose size is known.
template <typename Find>
void ReadStorageAttributes(StorageLevel& level, const Find& find, int64_t cluster, bool is_dram,
                           const Technology* technology) {
  level.access_energy_pj = find({{"vector-access-energy", "vector_access_energy"}})
                               .value_or(AccessEnergyOf(level, cluster, is_dram, technology));
  level.write_energy_pj = find({{"vector-write-energy", "vector_write_energy"}});
  const auto bandwidth = [&](std::string_view key, double& words) {
    words = find({{key}, kMinUnitBandwidth, kMaxUnitBandwidth}).value_or(words);
  };
  bandwidth("read_bandwidth", level.read_bandwidth);
  bandwidth("write_bandwidth", level.write_bandwidth);
  bandwidth("shared_bandwidth", level.shared_bandwidth);
  ReadMetadataStorage(level.sparsity, find, is_dram, technology);
}

/// Of a memory with several buffers one holds what is worked on.
template <typename Find>
void DivideIntoBuffers(StorageLevel& level, const Find& find) {
  if (const auto buffers = find({{"multiple-buffering", "multiple_buffering"}, 1, 1000})) {
    level.words = static_cast<int64_t>(std::ceil(static_cast<double>(level.words) / *buffers));
  }
}

}  // namespace bayloom::mapspace
