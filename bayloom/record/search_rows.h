#pragma once

#include <string>
#include <vector>

#include "bayloom/record/database.h"
#include "bayloom/record/search_records.h"

namespace bayloom {

/// The tables of searches, row by row, for whoever holds a database (and its lock).

/// Oldest first.
std::vector<SearchRecord> SelectSearches(Database& database);
/// By ordinal. Throws InputError where a row cannot be what was written.
std::vector<ConfigurationTrial> SelectSearchTrials(Database& database, SearchId search);

/// `id` is not used. Of a uuid that is there already, the row that is there; it stays as it is.
SearchId InsertSearch(Database& database, const SearchRecord& search);
/// False, and nothing changes, if the search has a trial of this ordinal or configuration.
bool InsertSearchTrial(Database& database, const ConfigurationTrial& trial);

}  // namespace bayloom
