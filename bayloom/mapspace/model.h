// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/architecture.h"
#include "bayloom/mapspace/mapping.h"
#include "bayloom/mapspace/problem.h"
#include "bayloom/mapspace/reuse.h"

namespace bayloom::mapspace {

class SparseModel;
struct SparseEvaluation;

/// What one level does for one tensor, in words and per instance in use; all 0 where the tensor is
/// not kept.
struct TensorTraffic {
  int64_t reads = 0;    ///< to feed the level inside; of outputs: partial sums read back
  int64_t fills = 0;    ///< brought in from the level outside
  int64_t updates = 0;  ///< partial sums arriving from the level inside
  int64_t tile_words = 0;
  double energy_pj = 0;  ///< over all instances
};

struct LevelTraffic {
  std::array<TensorTraffic, kMaxTensors> tensors;
  int64_t instances = 1;  ///< in use
  int64_t cycles = 0;     ///< that its bandwidth needs, or the multipliers if they are slower
};

/// What running a mapping costs.
struct Evaluation {
  int64_t macs = 0;
  int64_t multipliers = 1;  ///< in use
  double energy_pj = 0;
  int64_t cycles = 0;
  /// Multiply-accumulates done over those possible in `cycles`.
  double utilization = 0;
  /// As many as the architecture has levels, innermost first.
  std::array<LevelTraffic, kMaxLevels> levels;

  double EnergyPerMac() const { return energy_pj / static_cast<double>(macs); }
  /// pJ times cycles.
  double EnergyDelay() const { return energy_pj * static_cast<double>(cycles); }
};

/// An analytical model of energy and time in the manner of Timeloop (Parashar et al. 2019): words
/// moved between levels by tile sizes and loop orders, energy as accesses times their price,
/// cycles as the slowest of multipliers and bandwidths, all transfers overlapping.
///
///     AnalyticalModel model(MatmulProblem(512, 512, 512), ShippedArchitecture("gemmini"));
///     if (model.Fits(mapping)) Use(model.Evaluate(mapping).EnergyPerMac());
///
/// Where the architecture makes use of zeros, or tensors have words of their own width, what
/// SparseModel (sparse/sparse_model.h) says is brought in: counts are those of accesses that
/// happen.
///
/// Immutable, so that threads may share it. With ReuseCounting::kTimeloop all counts are those of
/// Timeloop 2.0.
class AnalyticalModel {
 public:
  /// Throws InputError as CheckProblem and CheckArchitecture do.
  AnalyticalModel(Problem problem, Architecture architecture,
                  ReuseCounting counting = ReuseCounting::kExact);

  const Problem& problem() const { return problem_; }
  const Architecture& architecture() const { return architecture_; }

  /// Whether all tiles fit into their buffers and all spatial loops onto the mesh, for a mapping
  /// that CheckMapping accepts.
  bool Fits(const Mapping& mapping) const;
  /// The same, saying what does not fit.
  Status CheckFit(const Mapping& mapping) const;
  /// For a mapping that CheckMapping accepts; whether it fits makes no difference to the counts.
  Evaluation Evaluate(const Mapping& mapping) const;
  /// The same, with what EvaluateSparse says.
  Evaluation Evaluate(const Mapping& mapping,
                      std::unique_ptr<const SparseEvaluation>& sparse) const;
  /// What becomes of all actions of the dense model; null if nothing is sparse.
  std::unique_ptr<const SparseEvaluation> EvaluateSparse(const Mapping& mapping) const;
  ReuseCounting counting() const { return counting_; }
  /// Null if nothing is sparse.
  const SparseModel* sparse() const { return sparse_.get(); }

 private:
  struct Nest;

  Evaluation CountDense(const Mapping& mapping, const Nest& nest) const;
  /// One tensor's traffic through all levels.
  void CountTensor(const Mapping& mapping, const Nest& nest, int tensor,
                   Evaluation& evaluation) const;
  void AddEnergy(Evaluation& evaluation) const;
  void AddCycles(Evaluation& evaluation) const;

  Problem problem_;
  Architecture architecture_;
  ReuseCounting counting_;
  std::vector<TensorReuse> tensors_;
  std::vector<Fanout> fanouts_;
  std::shared_ptr<const SparseModel> sparse_;  ///< null: everything is dense
};

}  // namespace bayloom::mapspace
