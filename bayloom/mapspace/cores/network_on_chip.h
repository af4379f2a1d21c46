// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bayloom::mapspace {

/// Most cores of a chip.
inline constexpr int64_t kMaxCores = 1024;

/// What connects equal cores with each other and with the memory outside of them, which stands at
/// the first core.
struct NetworkOnChip {
  enum class Topology : uint8_t {
    kMesh,  ///< links between neighbours, one in each direction; words go along rows, then columns
    kBus    ///< one link that everything passes
  };

  Topology topology = Topology::kMesh;
  int64_t columns = 1;
  int64_t rows = 1;
  /// Words a cycle over a link.
  double bandwidth = std::numeric_limits<double>::infinity();
  /// Of one word over one link.
  double hop_energy_pj = 0;

  int CoreCount() const { return static_cast<int>(columns * rows); }
  /// The cores in an order in which each is a neighbour of the one before: rows forth and back in
  /// turns.
  int CoreAlong(int place) const;
  /// "mesh:2x2,bandwidth=16,energy=0.5".
  std::string Describe() const;

  bool operator==(const NetworkOnChip&) const = default;
};

/// What a person means by
///
///     mesh:2x2                             columns and rows, links without limit that cost nothing
///     mesh:4x4,bandwidth=16,energy=0.5     words a cycle and link; pJ a word and link
///     bus:4,bandwidth=16,energy=0.5        four cores
///
/// Throws InputError showing a line that works.
NetworkOnChip ParseNetworkOnChip(std::string_view line);

/// Words that pass a network. From the memory, or a core, a word goes to several cores along the
/// union of its routes to each, over every link once, as in Simba (Shao et al., MICRO 2019) and
/// Stream (Symons et al., IEEE TC 2025). What the first core exchanges with the memory passes no
/// link of a mesh.
class NetworkTraffic {
 public:
  explicit NetworkTraffic(const NetworkOnChip& network);

  /// Each of these cores gets each of the words.
  void FromMemory(std::span<const int> cores, double words);
  void ToMemory(int core, double words);
  /// From one core to each of others.
  void Between(int from, std::span<const int> to, double words);

  double sent() const { return sent_; }            ///< by the memory and by cores
  double delivered() const { return delivered_; }  ///< to the memory and to cores
  double between_cores() const {
    return between_cores_;
  }                                                ///< of those delivered, from core to core
  double word_hops() const { return word_hops_; }  ///< over all links
  /// Over the link that most pass.
  double BusiestWords() const;
  double EnergyPj() const { return word_hops_ * network_.hop_energy_pj; }
  int64_t Cycles() const;

 private:
  enum Direction { kEast, kSouth, kWest, kNorth };

  /// The links from one core to another: along the row, then the column.
  std::vector<int> Route(int from, int to) const;
  /// Those between a core and the memory.
  std::vector<int> MemoryRoute(int core, bool to_memory) const;
  int Link(int64_t column, int64_t row, Direction direction) const;
  void Pass(std::vector<int> links, double words);

  NetworkOnChip network_;
  std::vector<double> passed_;  ///< words over every link
  double sent_ = 0, delivered_ = 0, between_cores_ = 0, word_hops_ = 0;
};

}  // namespace bayloom::mapspace
