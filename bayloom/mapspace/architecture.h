// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/mapspace/sparse/optimization.h"

namespace bayloom::mapspace {

struct Technology;

/// Most levels of an architecture; mappings and evaluations are arrays of this size.
inline constexpr int kMaxLevels = 12;

/// A level of memory: `instances` equal buffers, laid out in rows of `mesh_x`.
struct StorageLevel {
  std::string name;
  /// Capacity of one instance, for all tensors it keeps together; 0 is unbounded.
  int64_t words = 0;
  int word_bits = 16;
  /// Words that one access moves; what is read or written is rounded up to blocks.
  int64_t block_words = 1;
  int64_t instances = 1;
  int64_t mesh_x = 1;
  /// Words a cycle, of one instance.
  double read_bandwidth = std::numeric_limits<double>::infinity();
  double write_bandwidth = std::numeric_limits<double>::infinity();
  /// Words a cycle, read and written together.
  double shared_bandwidth = std::numeric_limits<double>::infinity();
  /// Of reading one block, and of writing one unless `write_energy_pj` says otherwise.
  double access_energy_pj = 0;
  std::optional<double> write_energy_pj = {};
  LevelSparsity sparsity = {};
  /// Whether it is the same memory as the level inside, of which it is a further place for tensors
  /// (uneven.h): they share capacity and bandwidth, and a tensor has one place in a memory at most.
  bool is_part = false;

  double WriteEnergyPj() const { return write_energy_pj.value_or(access_energy_pj); }
  /// Accesses that move so many words.
  double Blocks(int64_t moved) const {
    return static_cast<double>((moved + block_words - 1) / block_words);
  }
  /// Of so many blocks. (One product where both cost the same, as Timeloop rounds.)
  double EnergyPj(double read_blocks, double written_blocks) const {
    return write_energy_pj ? read_blocks * access_energy_pj + written_blocks * *write_energy_pj
                           : (read_blocks + written_blocks) * access_energy_pj;
  }
  /// By what factor the level is too slow for so many words a cycle: 1 if it is fast enough, else
  /// less.
  double Slowdown(double reads, double writes) const;
  /// Words a cycle that one instance moves at most, of which these are as many reads to as many
  /// writes; infinity where nothing bounds them.
  double Bandwidth(double reads, double writes) const;

  bool operator==(const StorageLevel&) const = default;
};

/// The multipliers that everything is brought to.
struct Arithmetic {
  std::string name = "MAC";
  int word_bits = 16;
  int64_t instances = 1;
  int64_t mesh_x = 1;
  double mac_energy_pj = 1;
  ComputeSparsity sparsity = {};

  bool operator==(const Arithmetic&) const = default;
};

/// What an instance of a level feeds: x by y instances of the next level inwards.
struct Fanout {
  int64_t x = 1;
  int64_t y = 1;

  bool operator==(const Fanout&) const = default;
};

/// A line of Timeloop's mapping and constraint files, which share one grammar: what is said of one
/// level. Names are resolved only when the problem is known.
struct Directive {
  enum class Kind : uint8_t { kTemporal, kSpatial, kBypass };
  struct Factor {
    std::string dimension;
    int64_t value;         ///< 0 stands for the dimension's whole bound
    bool at_most = false;  ///< an upper bound ("C<=16"), else the factor itself
  };

  Kind kind;
  std::string target;
  std::vector<Factor> factors = {};
  /// Dimensions, innermost first, "CMR" or "C,M,R". Of a constraint: the innermost loops, then
  /// after a '*' the outermost.
  std::string permutation = {};
  /// How many of the permutation's first dimensions spread along x; the others along y. -1: all.
  int split = -1;
  std::vector<std::string> keep = {};
  std::vector<std::string> bypass = {};
  /// "file.yaml:12: ", for messages; may be empty.
  std::string where = {};
  /// "file.yaml:12: 'key'", of each key that asks for what the model does not count.
  std::vector<std::string> without_effect = {};
};

/// Instances that a file gives a name of their own (a container of version 0.4): the spatial loops
/// over them are those of the level outside.
struct NamedMesh {
  std::string name;
  std::string outside;    ///< level
  bool is_level = false;  ///< stands for a level, too, which keeps nothing
};

/// Whether a name is what Timeloop calls the loops over a mesh: "inter_PE_spatial".
inline bool IsTimeloopMesh(std::string_view name) {
  return name.size() > 14 && name.starts_with("inter_") && name.ends_with("_spatial");
}

/// An accelerator: levels of memory around an array of multipliers (Kannan 2023, sec. IV-B).
struct Architecture {
  std::string name;
  Arithmetic arithmetic;
  /// Innermost first, as everywhere in this module.
  std::vector<StorageLevel> levels;
  /// What the architecture asks of every mapping.
  std::vector<Directive> constraints;
  std::vector<NamedMesh> meshes = {};
  /// "file.yaml:12: 'key'", of each key of a unit that asks for what the model does not count.
  std::vector<std::string> without_effect = {};

  /// Whether it does anything about zeros.
  bool IsSparse() const;
  int LevelCount() const { return static_cast<int>(levels.size()); }
  /// Position, or -1. A mesh, by its name or as Timeloop writes it ("inter_PE_spatial"), is the
  /// level outside of it.
  int LevelNamed(std::string_view name) const;
  /// Whether a level only stands for a mesh and keeps nothing.
  bool IsMesh(int level) const;
  /// The innermost and outermost levels of the memory that a level is a part of.
  int FirstPart(int level) const;
  int LastPart(int level) const;
  /// What one instance of a level feeds.
  Fanout FanoutOf(int level) const;
  /// A table: level, capacity, instances, energy of a word, bandwidths.
  std::string Describe() const;
};

/// Throws InputError unless there are 1 to kMaxLevels levels with distinct names and the instances
/// of each are a multiple of those of the level outside.
void CheckArchitecture(const Architecture& architecture);

/// Energy of one access of a block in an SRAM, and of one multiply-accumulate, in units of a 16-bit
/// multiply-accumulate reported as pJ: the public, technology-free table that Timeloop comes with,
/// which fits the relative costs of Eyeriss (Chen et al. 2016). `height` rows of `width_bits`.
double SramAccessEnergy(int64_t height, int64_t width_bits);
double DramAccessEnergy(int64_t width_bits);
double MacEnergy(int word_bits);

/// The architectures that come with the program, by name: "gemmini", "gemmini16x16",
/// "eyeriss-like", "simba-like", "tpu-like". Throws InputError naming them for any other. Energies
/// that the file does not give are those of `technology` (technology.h), if there is one.
Architecture ShippedArchitecture(std::string_view name, const Technology* technology = nullptr);
std::vector<std::string> ShippedArchitectureNames();
/// The file of a shipped architecture, to begin an own one with. Throws InputError as above.
std::string_view ShippedArchitectureFile(std::string_view name);
/// Whether a text names a file, and not a shipped architecture.
bool IsArchitectureFile(std::string_view name);

/// A shipped architecture's name, or a file of Timeloop's YAML, whose variables are these if it is
/// a template (timeloop_yaml.h).
Architecture LoadArchitecture(const std::string& name_or_file,
                              const Technology* technology = nullptr,
                              const std::map<std::string, std::string>& variables = {});

}  // namespace bayloom::mapspace
