#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/cli/model_option.h"
#include "bayloom/mapspace/mapper.h"
#include "bayloom/record/search_records.h"
#include "bayloom/tuning/network_layers.h"

namespace bayloom {

/// The command line of `bayloom map`.
struct MapOptions {
  ModelOption network;
  std::string op;
  std::string problem;
  std::string architecture;
  std::vector<std::string> constraints;
  std::string mapping;
  std::string mapper;
  std::string objective = "energy";
  std::string evaluator = "model";
  std::string timeout = "10m";
  std::string tiles = "divisor";
  std::string orders = "permutation";
  std::string counting = "exact";
  std::string scheduler = "gradient";
  std::optional<int64_t> evaluations;
  std::string time;
  int64_t victory = 0;
  uint64_t seed = 0;
  std::string database;
  bool resume = false;
  std::vector<std::string> transfer;  ///< databases
  std::string transfer_method = "contextual";
  std::optional<int64_t> rehearse;
  std::optional<int> top_k;
  std::string out;
  bool json = false;

  // What these say, for the room that searches. All throw InputError.

  /// Refuses options that the chosen mapper would ignore and an --out that cannot be written; makes
  /// its folder if it is one.
  void Check() const;
  ReuseCounting Counting() const;
  std::string MapperName() const;
  /// Of one operation or layer: as given, or what the model does in a second, or what a patient
  /// person waits for.
  int64_t Evaluations() const;
  /// But for what is learnt from.
  MapperOptions Mapper() const;
  std::vector<Directive> Constraints() const;
  /// The model must outlive it.
  std::unique_ptr<MappingEvaluator> Evaluator(const AnalyticalModel& model) const;
  /// The same, keeping every evaluation in the records if there are any.
  std::unique_ptr<MappingEvaluator> Evaluator(const AnalyticalModel& model, SearchRecords* records,
                                              uint64_t search_seed) const;
  /// What --db names, or null.
  std::unique_ptr<SearchRecords> Records() const;
  /// What a search learns from: the searches in --transfer's databases but for those of the same
  /// problem and architecture, and the model's rehearsal.
  std::vector<EarlierMappings> Earlier(const Mapspace& mapspace,
                                       const AnalyticalModel& model) const;
};

/// A search that found nothing: throws CheckFailed, with the last evaluation's failure if there was
/// one.
[[noreturn]] void FailWithoutMapping(const std::string& failure);

void WriteMapFile(const std::string& name, const std::string& text);

std::vector<NetworkLayer> LoadLayers(const ModelOption& model);

/// Maps all layers of a network.
void MapNetwork(const MapOptions& options);

}  // namespace bayloom
