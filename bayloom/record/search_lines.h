#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "bayloom/record/search_records.h"

namespace bayloom {

/// A search and its trials as lines of JSON (see json_lines.h). Reading throws std::exception where
/// something is missing or is not what it should be.

nlohmann::json SearchToJson(const SearchRecord& search);
/// All but the id.
SearchRecord SearchFromJson(const nlohmann::json& json);

nlohmann::json SearchTrialToJson(const ConfigurationTrial& trial, const std::string& search_uuid);
/// All but the search.
ConfigurationTrial SearchTrialFromJson(const nlohmann::json& json);

}  // namespace bayloom
