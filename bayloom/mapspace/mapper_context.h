// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "bayloom/base/random.h"
#include "bayloom/mapspace/mapper.h"

namespace bayloom::mapspace {

/// What the mappers share: mapspace, model, options, random numbers, and the account of what was
/// drawn and evaluated.
class MapperContext {
 public:
  MapperContext(const Mapspace& mapspace, const AnalyticalModel& model,
                const MapperOptions& options);

  const Mapspace& mapspace() const { return mapspace_; }
  const AnalyticalModel& model() const { return model_; }
  const MapperOptions& options() const { return options_; }
  base::RandomStream& random() { return random_; }
  const MapperResult& result() const { return result_; }

  /// What long searches for a mapping ask from now on; it outlives the next of them.
  void SetInterrupted(const std::function<bool()>& interrupted) { interrupted_ = &interrupted; }
  /// Whether to stop drawing: asked to, or because nothing has fitted for millions of draws.
  bool Done() const { return misses_ >= kMaxMisses || (*interrupted_)(); }
  /// What was drawn fits or not.
  bool Fits(const Mapping& mapping);
  void CountDraw(bool fits);
  /// What decides between outcomes of equal value, less is better; infinite if it is not known.
  double TieBreak(const trial::Outcome& outcome) const;
  void SetCertificate(Certificate certificate) { result_.certificate = std::move(certificate); }
  /// Takes account of an evaluation.
  void Count(const Mapping& mapping, const trial::Outcome& outcome);
  /// Draws until a mapping can be repaired and fits; nullopt if it is done before.
  std::optional<Mapping> DrawFitting();
  /// The share of the budget used so far, 0 to 1.
  double Progress() const;

 private:
  /// Takes a mapping into the front, unless another one is at least as good in all objectives.
  void ExtendFront(const Mapping& mapping, const trial::Outcome& outcome);

  /// Draws in a row that do not fit before the search is given up.
  static constexpr int64_t kMaxMisses = 5'000'000;

  const Mapspace& mapspace_;
  const AnalyticalModel& model_;
  MapperOptions options_;
  base::RandomStream random_;
  const std::function<bool()>* interrupted_ = nullptr;
  double started_;
  MapperResult result_;
  double best_tie_ = std::numeric_limits<double>::infinity();  ///< see TieBreak
  int64_t misses_ = 0;                                         ///< draws since the last that fitted
};

/// One way to search a mapspace.
class Mapper {
 public:
  virtual ~Mapper() = default;
  /// A mapping that fits, to be evaluated next; nullopt if there is nothing left to try, or the
  /// context is done before one is found.
  virtual std::optional<Mapping> Next(MapperContext& context) = 0;
  /// What a mapping answered, in any order, those of earlier runs included.
  virtual void Tell(Mapping mapping, const trial::Outcome& outcome, MapperContext& context) = 0;
  /// What it has to say about how it searches, each a line.
  virtual std::vector<std::string> TakeNotices() { return {}; }
  /// Suggests a mapping: mappers that learn from others' results evaluate it next.
  virtual void Suggest(const Mapping&) {}
};

// One file each.
std::unique_ptr<Mapper> MakeRandomPrunedMapper(const MapperContext& context);
std::unique_ptr<Mapper> MakeExhaustiveMapper(const MapperContext& context);
std::unique_ptr<Mapper> MakeGeneticMapper(const MapperContext& context);
std::unique_ptr<Mapper> MakeExactMapper(const MapperContext& context);
std::unique_ptr<Mapper> MakeAnnealingMapper(const MapperContext& context);
std::unique_ptr<Mapper> MakeOptimizerMapper(const MapperContext& context,
                                            std::string_view optimizer);

}  // namespace bayloom::mapspace
