#include "bayloom/record/search_records.h"

#include <fmt/format.h>

#include "bayloom/base/clock.h"
#include "bayloom/base/result.h"
#include "bayloom/record/schema.h"
#include "bayloom/record/search_rows.h"
#include "bayloom/record/uuid.h"

namespace bayloom {
namespace {

using Lock = std::lock_guard<std::mutex>;

}  // namespace

SearchRecords::SearchRecords(const std::string& path, Database::Mode mode) : database_(path, mode) {
  Migrate(database_, StoreMigrations());
}

SearchRecord SearchRecords::Begin(SearchRecord search) {
  const Lock lock(mutex_);
  search.uuid = RandomUuid();
  search.started = UnixMicroseconds();
  search.finished = false;
  search.id = InsertSearch(database_, search);
  return search;
}

std::vector<SearchRecord> SearchRecords::Searches() {
  const Lock lock(mutex_);
  return SelectSearches(database_);
}

std::optional<SearchRecord> SearchRecords::Last(const std::string& name) {
  std::optional<SearchRecord> last;
  for (SearchRecord& search : Searches()) {
    if (search.name == name) last = std::move(search);
  }
  return last;
}

void SearchRecords::SetFinished(SearchId search, bool finished) {
  const Lock lock(mutex_);
  database_.Prepared("UPDATE searches SET finished = ? WHERE id = ?").Run(finished, search);
}

void SearchRecords::AddTrial(const ConfigurationTrial& trial) {
  const Lock lock(mutex_);
  Insert(trial);
}

void SearchRecords::AddTrials(std::span<const ConfigurationTrial> trials) {
  const Lock lock(mutex_);
  Transaction transaction(database_);
  for (const ConfigurationTrial& trial : trials) Insert(trial);
  transaction.Commit();
}

void SearchRecords::Insert(const ConfigurationTrial& trial) {
  if (InsertSearchTrial(database_, trial)) return;
  throw InputError(fmt::format("{}: search {} has another trial {}: is it running twice?", path(),
                               trial.search, trial.ordinal));
}

std::vector<ConfigurationTrial> SearchRecords::TrialsOf(SearchId search) {
  const Lock lock(mutex_);
  return SelectSearchTrials(database_, search);
}

}  // namespace bayloom
