// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bayloom::mapspace {

// What an architecture does about zeros (Sparseloop: Wu et al., MICRO 2022, sec. 3). Tensors and
// dimensions go by their names, which are resolved when the problem is known.

/// How the coordinates of nonzeros are kept in one rank of a tensor's fibertree.
enum class RankFormat : uint8_t {
  kUncompressedBitmask,  ///< UB: a bit for every coordinate, all payloads
  kBitmask,              ///< B: a bit for every coordinate, payloads of nonempty ones
  kRunLength,            ///< RLE: for every nonempty coordinate, the run of empty ones before it
  kCoordinatePayload,    ///< CP: the coordinate of every nonempty one
  kOffsetPair,           ///< UOP: where each coordinate's payload begins, as the rows of CSR
};

/// Bits that are not given are those of the level's metadata words.
inline constexpr int kBitsOfLevel = -1;

struct RankSpec {
  RankFormat format = RankFormat::kUncompressedBitmask;
  int metadata_bits = kBitsOfLevel;  ///< of a coordinate, run or flag
  int payload_bits = kBitsOfLevel;   ///< of a reference to the rank inside
  /// Lists of dimensions whose neighbouring loops may be one rank together; empty: a loop each.
  std::vector<std::vector<std::string>> flattened;

  bool operator==(const RankSpec&) const = default;
};

/// How one tensor is kept at one level.
struct TensorFormat {
  std::string tensor;
  std::vector<RankSpec> ranks;  ///< outermost first
  /// Whether ranks take the innermost loops first; else the outermost.
  bool inner_to_outer = false;
  std::string where;  ///< "file.yaml:12: "

  /// Whether zeros are left out.
  bool IsCompressed() const;

  bool operator==(const TensorFormat& other) const {
    return tensor == other.tensor && ranks == other.ranks && inner_to_outer == other.inner_to_outer;
  }
};

/// What a level does with accesses that are ineffectual, because data that they are combined with
/// are zero.
struct ActionOptimization {
  enum class Kind : uint8_t {
    kGating,           ///< the access takes its cycle, at its gated energy
    kSkipping,         ///< neither
    kSpatialSkipping,  ///< instances of the level inside take up other work
  };
  /// Accesses to the follower `target` depend on the leaders.
  struct Option {
    std::string target;
    std::vector<std::string> condition_on;

    bool operator==(const Option&) const = default;
  };

  Kind kind = Kind::kGating;
  std::vector<Option> options;  ///< the one that saves most is taken
  std::string where;

  bool operator==(const ActionOptimization& other) const {
    return kind == other.kind && options == other.options;
  }
};

/// In place of a probability: tiles fit if as many nonzeros as are expected do.
inline constexpr double kFitsExpected = 0;

/// What one level of memory does about zeros, and where it keeps their coordinates.
struct LevelSparsity {
  std::vector<TensorFormat> formats;
  std::vector<ActionOptimization> actions;
  /// Metadata: bits of a word where its format does not say; of one access; rows. 0 rows: as many
  /// as are needed at an unbounded level; at others, where the width is 0, too, metadata is kept
  /// among the data and costs what their bits cost.
  int metadata_word_bits = 0;
  int64_t metadata_width_bits = 0;
  int64_t metadata_depth = 0;
  double metadata_access_energy_pj = 0;
  double gated_access_energy_pj = 0;  ///< of a block
  /// Compressed tiles fit if they do with this probability; 1: always; kFitsExpected.
  double fit_probability = 1;

  bool HasMetadataStorage() const { return metadata_width_bits > 0; }
  bool IsSparse() const { return !formats.empty() || !actions.empty(); }

  bool operator==(const LevelSparsity&) const = default;
};

/// What the multipliers do where an operand is zero.
struct ComputeSparsity {
  bool gates_zeros = false;      ///< multiplications by a zero that is there
  bool skips_unaligned = false;  ///< operands whose partner is not there
  double gated_energy_pj = 0;

  bool IsSparse() const { return gates_zeros || skips_unaligned; }

  bool operator==(const ComputeSparsity&) const = default;
};

/// "UOP", "CP", ...
const char* ToString(RankFormat format);

}  // namespace bayloom::mapspace
