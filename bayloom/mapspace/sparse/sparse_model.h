// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <span>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/model.h"
#include "bayloom/mapspace/sparse/density_model.h"
#include "bayloom/mapspace/sparse/sparse_evaluation.h"
#include "bayloom/mapspace/sparse/spatial_skipping.h"

namespace bayloom::mapspace {

/// What zeros change about the counts of the dense model, as Sparseloop counts it (Wu et al., MICRO
/// 2022, sec. 5): compressed tensors are moved and kept without their zeros, with metadata that say
/// where the others are; accesses and multiplications that zeros make ineffectual are gated or
/// skipped, and what a level skips is not asked of those inside of it. Also words of tensors that
/// have a width of their own.
///
/// All numbers are expectations over tiles, by the tensors' density models, rounded so that nothing
/// is lost: an operation is gated or skipped only as a whole. Immutable.
class SparseModel {
 public:
  /// Whether anything is done about zeros, or a tensor has words of its own width; else the dense
  /// model says all.
  static bool IsNeeded(const Problem& problem, const Architecture& architecture);

  /// Throws InputError, with their place, for tensors and dimensions that the problem has not.
  SparseModel(const Problem& problem, const Architecture& architecture);

  /// Whether all tiles fit as they are kept, metadata included, all loops have a rank, and loops in
  /// space fit the array after skipping.
  Status CheckFit(const Mapping& mapping) const;

  /// `dense` is what the dense model counts.
  SparseEvaluation Count(const Mapping& mapping, const Evaluation& dense) const;
  /// Brings it into the evaluation: actual accesses, what tiles take of capacity, energy, cycles,
  /// and utilization by multiplications that are done.
  void Apply(const Mapping& mapping, const SparseEvaluation& sparse, Evaluation& evaluation) const;
  /// Of what a level keeps of a tensor, how it takes capacity: the density model if zeros are left
  /// out, and a word's width over that of the level's.
  const DensityModel* CompressedAt(int level, int tensor) const {
    return levels_[level].formats[tensor].compressed ? &densities_[tensor] : nullptr;
  }
  double WordShare(int level, int tensor) const;

 private:
  /// An optimization with its names resolved.
  struct Option {
    int follower;
    std::vector<int> leaders;
  };
  struct Action {
    ActionOptimization::Kind kind;
    std::vector<Option> options;
  };
  struct Level {
    std::vector<ResolvedFormat> formats;  ///< one for each tensor
    std::vector<Action> actions;
  };
  /// That a tile of a tensor holds a nonzero.
  struct Nonempty {
    int tensor;
    TensorTile tile;
  };
  /// What a level does about accesses to a tensor.
  struct Saf {
    enum class Kind : uint8_t { kNone, kGate, kSkip, kSpatialSkip };
    Kind kind = Kind::kNone;
    double probability = 0;  ///< that an access is ineffectual
    /// The tiles that an access has to do with are not empty; else it is ineffectual.
    std::vector<Nonempty> conditions = {};
  };
  struct Draft;
  struct OperandStates;

  void Resolve(const Architecture& architecture);
  ResolvedFormat ResolveFormat(const TensorFormat& format) const;
  int TensorNamed(const std::string& name, const std::string& where) const;

  void BuildTrees(const Mapping& mapping, Draft& draft) const;
  void CountOccupancies(const Mapping& mapping, Draft& draft, SparseEvaluation& sparse) const;
  int64_t OccupancyFor(int level, int tensor, const TensorTile& tile) const;
  void CountMetadata(int level, int tensor, const Draft& draft, bool is_nonempty,
                     SparseTraffic& traffic) const;
  /// Both add to what is expected, of tiles that are not empty if `nonempty` is the share of these,
  /// and say what capacity has to allow for.
  std::vector<RankMetadata> EstimateMetadata(int level, int tensor, const Fibertree& tree,
                                             const TensorTile& tile, double nonempty,
                                             SparseTraffic& traffic) const;
  std::vector<RankMetadata> CountKnownMetadata(int level, int tensor, const Fibertree& tree,
                                               const TensorTile& tile, double nonempty,
                                               SparseTraffic& traffic) const;
  void FindSafs(const Mapping& mapping, const SparseEvaluation& sparse, Draft& draft) const;
  void FindSpatialUse(const Mapping& mapping, Draft& draft) const;
  Saf MakeSaf(const Mapping& mapping, const Draft& draft, int level, const Option& option,
              Saf::Kind kind) const;
  /// The probability that all of these hold at a point of the iteration space: of two tensors of
  /// which it is known where their nonzeros are it is counted, others are independent.
  double AllNonempty(std::span<const Nonempty> conditions) const;
  void CompressAccesses(const Mapping& mapping, const Evaluation& dense,
                        SparseEvaluation& sparse) const;
  void ApplySafs(const Mapping& mapping, int tensor, Draft& draft, SparseEvaluation& sparse) const;
  std::vector<int> Operands() const;
  /// Whether the innermost level that keeps the tensor knows where its zeros are.
  bool KnowsZeros(const Mapping& mapping, int tensor) const;
  OperandStates EstimateStates(const Mapping& mapping, const Draft& draft) const;
  /// The same of two operands of which it is known where their nonzeros are.
  OperandStates CountStates(const Mapping& mapping, const Draft& draft, int first,
                            int second) const;
  void CountComputes(const Mapping& mapping, const Draft& draft, SparseEvaluation& sparse) const;
  void AddEnergy(const Mapping& mapping, const SparseNest& nest, SparseEvaluation& sparse) const;
  double BlockOverhead(int level, int tensor, const TensorTile& tile,
                       const SparseTraffic& traffic) const;
  int64_t CyclesOf(int level, const Evaluation& dense, const SparseEvaluation& sparse) const;
  Status CheckSpread(const Mapping& mapping, const Draft& draft) const;

  Problem problem_;
  Architecture architecture_;
  std::vector<DensityModel> densities_;
  std::vector<Level> levels_;
  bool skips_in_space_ = false;
};

}  // namespace bayloom::mapspace
