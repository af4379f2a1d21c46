// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "bayloom/mapspace/mapping_evaluator.h"
#include "bayloom/mapspace/mapspace.h"
#include "bayloom/mapspace/model.h"
#include "bayloom/mapspace/reuse.h"

namespace bayloom::mapspace {

// A mapping from the multipliers outwards as far as it is decided, with what it costs.
//
// Everything is counted in words over the whole run, so that a cost is final as soon as no loop
// outside can change it: a tile that the innermost loops outside of it leave where it is ("open")
// is delivered again or not as later loops decide; once a loop has moved it, every iteration of
// every loop outside brings it again, and these are known from the tile: the bounds over its
// extents.

/// What is added up: energy in pJ, then for every level of limited bandwidth the cycles that its
/// reads and its writes take.
inline constexpr int kMaxComponents = 8;
using Costs = std::array<double, kMaxComponents>;

/// By how much costs may differ that are summed in another order, relative.
inline constexpr double kCostRounding = 1e-10;

/// A tile of the inner levels of a mapping: of each dimension, which of its divisors.
using TileIndex = std::array<uint8_t, kMaxDimensions>;

/// A kept tile of a tensor whose neighbours may overlap (inputs of convolutions) that no loop has
/// moved by its whole width yet.
struct OpenWindow {
  int8_t tensor = 0;
  bool is_asked = false;  ///< the level that it comes from is not decided yet
  std::array<int32_t, kMaxAxes> width, moved;
  double words = 0;   ///< delivered to one instance by the loops decided
  double boxes = 1;   ///< instances side by side that ask the level outside for different boxes
  double spread = 1;  ///< instances side by side
  Costs weight = {};  ///< of one word delivered
  /// Delivered in the end, at least; see LowerBound.
  double least_words = 0;

  bool operator==(const OpenWindow&) const = default;
};

/// What the levels outside will be asked for by what is decided of one tensor.
struct TensorDemand {
  double asked = 0;       ///< words, final but for multicasts of spatial loops outside
  double open_asked = 0;  ///< words of one iteration of the loops outside
  Costs open = {};        ///< costs of one iteration of the loops outside
};

inline constexpr int kMaxOpenWindows = 4;

struct PartialMapping {
  TileIndex tile = {};
  Costs costs = {};
  /// What outputs' first visits save: a sum begins without being read. Grows with the instances
  /// that share the work of a sum.
  Costs saved = {};
  double multipliers = 1;  ///< in use side by side
  int64_t used_words = 0;  ///< of the memory whose tiles are being placed
  uint32_t placed = 0;     ///< tensors that have a place in it
  std::array<TensorDemand, kMaxTensors> demands = {};
  std::array<OpenWindow, kMaxOpenWindows> windows;
  int window_count = 0;

  /// Whether later loops may leave a tile where it is.
  bool IsOpen(int tensor_count) const;
};

/// How far a partial mapping is decided: all levels below `level`, and of it the spatial loops or
/// not.
struct Position {
  int level;
  bool is_spread;
};

/// The problem, architecture and constraints as partial mappings need them.
class PartialMappingModel {
 public:
  /// The mapspace and the model must outlive it.
  PartialMappingModel(const Mapspace& mapspace, const AnalyticalModel& model,
                      MapObjective objective);

  const Mapspace& mapspace() const { return mapspace_; }
  const Problem& problem() const { return mapspace_.problem(); }
  const Architecture& architecture() const { return mapspace_.architecture(); }
  int components() const { return components_; }
  const std::vector<int64_t>& Divisors(int dimension) const { return divisors_[dimension]; }
  /// Divisors of a dimension that are multiples of one, itself among them.
  const std::vector<uint8_t>& Multiples(int dimension, int divisor) const {
    return multiples_[dimension][divisor];
  }
  Extents ExtentsOf(const TileIndex& tile) const;
  TileIndex Whole() const { return whole_; }
  /// Words of a tensor's tile.
  int64_t Words(int tensor, const TileIndex& tile) const {
    return tensors_[tensor].BoxWords(ExtentsOf(tile));
  }

  /// Nothing is decided.
  PartialMapping Empty() const;
  /// Spatial loops up to this tile.
  void Spread(PartialMapping& partial, const TileIndex& tile) const;
  /// A temporal loop up to the divisor of its dimension.
  void Loop(PartialMapping& partial, int dimension, int divisor) const;
  /// The level keeps these tensors. After the last part of a memory, it is done with.
  void Place(PartialMapping& partial, int level, uint32_t keep) const;
  /// Everything is decided.
  void Finish(PartialMapping& partial) const;

  /// No mapping that contains the partial one has less than this of the objective (energy in pJ,
  /// cycles, or their product). Looks no closer once it is `enough`. Notes in the partial mapping
  /// how little loops that follow can bring in of its open windows, which Dominates uses.
  double LowerBound(PartialMapping& partial, Position position, double enough) const;
  /// The objective of a finished one.
  double ValueOf(const PartialMapping& finished) const;
  /// Whether any completion of `a` from this tile on is at least as good as the same completion
  /// of `b`. (Tiles of their own are not looked at: temporal loops may have followed that cost
  /// both the same.)
  bool Dominates(const PartialMapping& a, const PartialMapping& b, const TileIndex& tile,
                 Position position) const;

 private:
  struct Level {
    Costs read = {}, write = {};  ///< of a word
    /// Of what is asked next of this level or one outside of it: the least and the most.
    std::array<Costs, kMaxTensors> least_asked = {}, most_asked = {};
    /// Of reading a sum back there, at least.
    std::array<Costs, kMaxTensors> least_read = {};
    /// What levels from this one outwards cost at least for words of the tensor that each passes
    /// once.
    std::array<Costs, kMaxTensors> once = {};
    double fanout = 1;          ///< of this level and all outside
    double fanout_outside = 1;  ///< of all outside
  };

  /// The level from which a tensor may be kept next.
  const Level& NextOf(const PartialMapping& partial, int tensor, Position position) const {
    const bool has_place = (partial.placed >> tensor & 1) != 0;
    return levels_[has_place ? architecture().LastPart(position.level) + 1 : position.level];
  }
  bool IsRelevant(int tensor, int dimension) const {
    return (relevant_[tensor] >> dimension & 1) != 0;
  }
  /// Iterations that are left outside of a tile: of all dimensions, of those that index a tensor.
  double Outside(const TileIndex& tile) const;
  double RelevantOutside(int tensor, const TileIndex& tile) const;
  /// Different boxes that instances side by side ask for.
  double Boxes(int tensor, const Extents& tile, const Extents& factors) const;
  /// How often a sum can be divided between instances outside of a tile, at most.
  double MostSharing(int tensor, const TileIndex& tile, Position position) const;
  double FanoutFrom(Position position) const {
    const Level& level = levels_[position.level];
    return position.is_spread ? level.fanout_outside : level.fanout;
  }
  /// How things may go on from a partial mapping, as far as bounds tell.
  struct Course {
    int next;  ///< dimension of the next temporal loop; -1: there is none
    /// Of the loops outside, those that bring a tensor's tile again, at least.
    std::array<double, kMaxTensors> iterations;
    /// Delivered to each open window, at least.
    std::array<double, kMaxOpenWindows> words;
    /// Which of Rest::least holds of the levels outside.
    int within;
  };
  using Courses = std::array<Course, kMaxDimensions << 2 * (kMaxTensors - 1)>;
  /// What a level and all outside of it cost at least for what they have to keep, by the tile that
  /// the levels inside have.
  struct Rest {
    /// Of a tensor: if the level's loops, and the first outside of them, are of dimensions that do
    /// not index it. Last: in any case.
    std::array<std::array<std::vector<double>, kMaxComponents>, kMaxTensors + 1> least;
    /// Of a tensor: iterations of loops that do not index it, of the level, at most.
    std::array<std::vector<double>, kMaxTensors> most_iterations;
    bool is_limited = false;  ///< whether the level's capacity bounds its tile
  };
  void FindRest();
  void FindRest(int level);
  using KeptCosts = std::array<Costs, kMaxTensors + 1>;
  /// As Rest::least, the level's tile being this: what moves between it and the levels outside, and
  /// these among themselves.
  KeptCosts LeastKept(int level, const TileIndex& tile) const;
  /// Which of `rest_` holds outside of what is decided; the levels between count once.
  int RestLevel(int level) const {
    const int last = architecture().LastPart(level);
    return architecture().FirstPart(level) == last ? level : last + 1;
  }
  int64_t IndexOf(const TileIndex& tile) const {
    int64_t index = 0;
    for (int d = 0; d < dimensions_; ++d) index += tile[d] * strides_[d];
    return index;
  }
  /// All courses, of which one is taken: which loop may be next, which tensors it leaves where they
  /// are. `looks_closer`: and what windows save then.
  int FindCourses(const PartialMapping& partial, Position position, bool looks_closer,
                  Courses& courses) const;
  double BoundObjective(const PartialMapping& partial, Position position,
                        std::span<const Course> courses) const;
  double BoundComponent(const PartialMapping& partial, Position position, int k,
                        std::span<const Course> courses) const;
  /// Visits the courses with what each costs of a component, summed over all instances. Of tensors
  /// that are not `asking` only what the demands say counts.
  template <typename Visit>
  void ForEachCost(const PartialMapping& partial, Position position, int k,
                   std::span<const Course> courses, uint32_t asking, const Visit& visit) const;
  /// Visits the dimensions whose temporal loops may be next, with the tensors (one bit each) whose
  /// tiles these move by their whole width. No loop leaves all tiles where they are.
  template <typename Visit>
  void ForEachNextLoop(const TileIndex& tile, const Visit& visit) const {
    bool is_whole = true;
    for (int d = 0; d < dimensions_; ++d) {
      if (outside_[d][tile[d]] == 1) continue;
      is_whole = false;
      visit(d, MovedBy(d));
    }
    if (is_whole) visit(-1, ~uint32_t{0});
  }
  uint32_t MovedBy(int dimension) const;
  /// The least sum of what is asked of levels outside, if of each tensor so many instances at most
  /// share what they ask for, and there are `fanout` in all.
  double LeastShared(const std::array<double, kMaxTensors>& asked,
                     const std::array<double, kMaxTensors>& sharing, double fanout) const;
  bool AreWindowsAlike(const PartialMapping& a, const PartialMapping& b) const;
  void AddWeights(Costs& costs, const Costs& weights, double words) const {
    for (int k = 0; k < components_; ++k) costs[k] += weights[k] * words;
  }
  /// Of reading a tensor from a level for the level inside; of outputs, of updates too.
  Costs AskedOf(int tensor, int level) const;
  void CloseTensor(PartialMapping& partial, int tensor) const;
  OpenWindow WindowOf(int tensor, const Extents& tile) const;
  void CloseWindow(PartialMapping& partial, int index) const;
  /// The most of a window's words, as a share, that a loop of the dimension leaves in place as far
  /// as this axis of the tensor goes, with any loops before it.
  double MostKept(const OpenWindow& window, const TileIndex& tile, int axis, int dimension,
                  double fanout) const;
  /// The most words of each iteration of the loops outside that need not be brought in. A loop of n
  /// iterations that leaves k words in place saves (n - 1) / n of k, and 1 / n of what loops
  /// outside of it save of each of its sweeps: the most if those that leave more are inside. The
  /// first loop is of this dimension (-1: of any), all others before the window is moved by its
  /// width are of the dimensions `among`.
  double MostSaved(const OpenWindow& window, const TileIndex& tile, double fanout, int first,
                   DimensionSet among) const;
  bool IsMoved(const OpenWindow& window, const TileIndex& tile) const;
  void MoveWindow(OpenWindow& window, int dimension, int64_t count, const Extents& tile) const;
  void FindWeights();
  void FindBounds();

  const Mapspace& mapspace_;
  MapObjective objective_;
  int dimensions_, tensor_count_;
  int components_ = 1;
  std::vector<TensorReuse> tensors_;
  std::array<DimensionSet, kMaxTensors> relevant_ = {};
  std::array<bool, kMaxTensors> windowed_ = {};
  std::array<DimensionSet, kMaxTensors> moving_ = {};  ///< see MovingDimensions
  /// Whether no dimension leaves two tensors where they are.
  bool can_share_jointly_ = true;
  std::array<double, kMaxTensors> volume_ = {};
  std::vector<std::vector<int64_t>> divisors_;
  std::vector<std::vector<double>> outside_;  ///< bound over divisor
  std::vector<std::vector<std::vector<uint8_t>>> multiples_;
  std::vector<Level> levels_;
  std::vector<Rest> rest_;
  std::array<int64_t, kMaxDimensions> strides_ = {};  ///< of a tile's number, see IndexOf
  int64_t tiles_ = 1;
  std::array<int, kMaxComponents> component_level_ = {};
  TileIndex whole_ = {};
  double macs_ = 1;
  double mac_energy_ = 0;
};

}  // namespace bayloom::mapspace
