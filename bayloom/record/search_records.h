#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/record/database.h"
#include "bayloom/space/outcome.h"

namespace bayloom {

/// Row number of a search in one database.
using SearchId = int64_t;

/// One search of a scenario, however often interrupted and resumed.
struct SearchRecord {
  SearchId id = 0;
  std::string uuid;       ///< identifies the search in every database it is copied to
  std::string name;       ///< the scenario's
  std::string scenario;   ///< its file, as it was read
  std::string objective;  ///< what `value` is
  bool maximize = false;
  std::string optimizer;
  uint64_t seed = 0;
  int64_t started = 0;  ///< microseconds since 1970
  bool finished = false;
};

/// One evaluation of a configuration, as it is kept.
struct ConfigurationTrial {
  SearchId search = 0;
  int64_t ordinal = 0;        ///< from 0
  std::string configuration;  ///< JSON: values by parameter
  Outcome outcome;
  double elapsed = 0;     ///< seconds of searching until it ended
  int64_t timestamp = 0;  ///< microseconds since 1970; filled in when 0
};

/// The searches in a database of records (see Store, which keeps tuning sessions in the same
/// file). What a call has written is durable when it returns. Every failure is an InputError of one
/// line. All methods may be called from any thread.
class SearchRecords {
 public:
  explicit SearchRecords(const std::string& path, Database::Mode mode = Database::Mode::kReadWrite);

  const std::string& path() const { return database_.path(); }

  /// `id`, `uuid`, `started` and `finished` are filled in here.
  SearchRecord Begin(SearchRecord search);
  /// Oldest first.
  std::vector<SearchRecord> Searches();
  /// The last search of a scenario of this name.
  std::optional<SearchRecord> Last(const std::string& name);
  void SetFinished(SearchId search, bool finished);

  /// Throws if the search has a trial of this ordinal or configuration: somebody else goes on with
  /// it, too.
  void AddTrial(const ConfigurationTrial& trial);
  /// All or none: many at once take little longer than one.
  void AddTrials(std::span<const ConfigurationTrial> trials);
  /// By ordinal.
  std::vector<ConfigurationTrial> TrialsOf(SearchId search);

 private:
  void Insert(const ConfigurationTrial& trial);

  std::mutex mutex_;  ///< guards the database
  Database database_;
};

}  // namespace bayloom
