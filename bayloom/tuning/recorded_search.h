#pragma once

#include <memory>

#include "bayloom/external/search.h"
#include "bayloom/record/search_records.h"

namespace bayloom {

/// A search of a scenario that keeps every trial in a database before anything is learnt from it.
/// Kill the process anywhere: resumed, the search goes on with all trials that had ended. The
/// optimizer is then told them again in their order, so it may choose differently from there on
/// than a search that was never interrupted, but nothing is tried twice.
class RecordedSearch {
 public:
  /// With `resume`, goes on with the database's last search of a scenario of this name if there is
  /// one. Throws InputError where its trials do not fit the scenario any more.
  RecordedSearch(const Scenario& scenario, SearchRecords& records, bool resume);
  RecordedSearch(const RecordedSearch&) = delete;
  RecordedSearch& operator=(const RecordedSearch&) = delete;

  Search& search() { return *search_; }
  const SearchRecord& record() const { return record_; }
  bool resumed() const { return resumed_; }
  /// Notes that the search has reached a limit.
  void Finish() { records_.SetFinished(record_.id, true); }

 private:
  SearchRecords& records_;
  SearchRecord record_;
  bool resumed_ = false;
  std::unique_ptr<Search> search_;
};

/// The search of this number. Throws InputError if there is none.
SearchRecord FindSearch(SearchRecords& records, SearchId id);

/// What was searched, as the record has it.
Scenario ScenarioOf(const SearchRecord& record);

/// The trials of a search as the scenario's space reads them. Throws InputError where one does not
/// fit.
std::vector<SearchTrial> ReadSearchTrials(const Space& space, SearchRecords& records,
                                          SearchId search);

}  // namespace bayloom
