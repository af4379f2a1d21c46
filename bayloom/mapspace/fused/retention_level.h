// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bayloom/mapspace/fused/tensor_forms.h"
#include "bayloom/mapspace/mapping_evaluator.h"
#include "bayloom/mapspace/model.h"

namespace bayloom::mapspace {

/// The level of memory where a group's tensors are between its operators.
struct RetentionLevel {
  int level = 0;              ///< of the architecture
  bool keeps_weights = true;  ///< else weights pass it by, on their way from the outermost level
};

/// The levels that can be one: on the chip, of one instance and known capacity, and not among those
/// that constraints, the architecture's or these, keep inputs out of. Outermost first.
std::vector<RetentionLevel> RetentionLevelsOf(const Architecture& architecture,
                                              std::span<const Directive> constraints = {});

/// What is inside of the home level, with that as its outermost one. There it keeps every tensor,
/// has any capacity and costs nothing: who asks counts what it holds and moves.
Architecture InsideOf(const Architecture& architecture, int home);

/// What computing a tile, or a whole layer, costs. Words are those of one instance; where zeros are
/// left out, those that are moved, in words of the level's width and with metadata.
struct TileCost {
  double energy_pj = 0;
  int64_t cycles = 0;
  double operations = 0;  ///< multiply-accumulates, or what else is computed
  int64_t home_reads = 0;
  int64_t home_writes = 0;
  int64_t outside_reads = 0;  ///< of the outermost level
  int64_t outside_writes = 0;
  /// How the tile's tensors are kept and moved; null: as plain words.
  std::shared_ptr<const TileForms> forms = {};
};

/// Cost of a mapping of one operator's tile whose inputs and outputs are at the home level. Weights
/// come from there too, or from the outermost level with every access.
///
/// Where the architecture makes use of zeros, or tensors have words of their own width, all counts
/// are those of the sparse model for a layer of the tile's sizes, all of whose tensors come to the
/// home level once: a whole layer costs as a tile, together with what comes and goes, what it costs
/// by itself.
class OnChipModel {
 public:
  /// `tile`: the problem with the tile's bounds.
  OnChipModel(Problem tile, const Architecture& architecture, RetentionLevel home,
              ReuseCounting counting);

  /// Of the tile on InsideOf(architecture, home).
  const AnalyticalModel& inside() const { return inside_; }
  /// Whether a mapping fits, but for what tensors take of the home level.
  bool Fits(const Mapping& mapping) const;
  Status CheckFit(const Mapping& mapping) const;
  /// Without forms.
  TileCost Evaluate(const Mapping& mapping) const;
  /// The same with forms, if anything is sparse.
  TileCost EvaluateWithForms(const Mapping& mapping) const;
  /// pJ per multiply-accumulate, cycles, or their product, as a mapper minimizes it.
  double ValueOf(const TileCost& cost, MapObjective objective) const;

 private:
  bool Passes(int tensor) const;
  /// Of what is inside, with the outermost level around it.
  Mapping Stacked(const Mapping& mapping) const;
  TileCost EvaluateSparse(const Mapping& mapping,
                          std::unique_ptr<const SparseEvaluation>& sparse) const;

  Architecture architecture_;
  RetentionLevel home_;
  AnalyticalModel inside_;
  /// Of the levels up to home, and the outermost one around them; nullopt: everything is dense.
  std::optional<AnalyticalModel> stacked_;
};

/// By the model, which must outlive the evaluator.
std::unique_ptr<trial::Evaluator<Mapping>> MakeHomeEvaluator(const OnChipModel& model,
                                                             MapObjective objective);

/// pJ of reading words from a level, and of writing them to it.
double ReadEnergy(int64_t words, const StorageLevel& level);
double WriteEnergy(int64_t words, const StorageLevel& level);
/// Cycles that a level needs for these words at the least.
int64_t TransferCycles(int64_t reads, int64_t writes, const StorageLevel& level);

/// A layer mapped by itself, all tensors at the outermost level, as the model says; `sparse` where
/// anything is.
TileCost LayerCost(const Evaluation& evaluation, const Architecture& architecture,
                   const SparseEvaluation* sparse = nullptr);

/// Something that multiplies nothing: words come from a level once, one operation a multiplier and
/// cycle is carried out at the price of a multiply-accumulate, and results go back.
TileCost StreamCost(int64_t words_read, int64_t words_written, double operations,
                    const Architecture& architecture, int level);

}  // namespace bayloom::mapspace
