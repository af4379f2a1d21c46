#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "bayloom/mapspace/mapping_evaluator.h"
#include "bayloom/mapspace/transfer.h"
#include "bayloom/record/search_records.h"

namespace bayloom {

/// What identifies a search for mappings in a database of records.
struct MapSearchIdentity {
  Problem problem;
  Architecture architecture;
  std::string objective;
  std::string evaluator;  ///< "model", "timeloop" or a command
  std::string mapper;
  uint64_t seed = 0;

  /// "conv2d R=3 ... on gemmini".
  std::string Name() const;
};

/// Answers from a database where it knows the mapping, else asks another evaluator and keeps the
/// answer: a search that is resumed with the same seed draws the same mappings again and so goes on
/// where it was. Answers are durable before they are given, except that of an evaluator that
/// takes microseconds those of the last moment may be lost.
class RecordedEvaluator final : public MappingEvaluator {
 public:
  /// With `resume`, goes on with the last search of this name, objective and evaluator if there is
  /// one. `records` must outlive it.
  RecordedEvaluator(std::unique_ptr<MappingEvaluator> evaluator, const MapSearchIdentity& identity,
                    SearchRecords& records, bool resume);
  ~RecordedEvaluator() override;

  Outcome Evaluate(const Mapping& mapping) override;
  /// How many mappings were known when the search began.
  int64_t recalled() const { return recalled_; }
  /// Writes what is not durable yet.
  void Flush();

 private:
  std::unique_ptr<MappingEvaluator> evaluator_;
  MapSearchIdentity identity_;
  SearchRecords& records_;
  SearchRecord record_;
  std::unordered_map<std::string, Outcome> known_;  ///< by the mapping's JSON
  int64_t recalled_ = 0;
  double began_;
  double flushed_;
  std::vector<ConfigurationTrial> waiting_;
};

/// All searches for mappings with this objective in a database, with what fitted; those without
/// any such mapping are left out.
std::vector<EarlierMappings> ReadEarlierMappings(SearchRecords& records,
                                                 const std::string& objective);

}  // namespace bayloom
