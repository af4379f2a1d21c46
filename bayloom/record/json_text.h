#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace bayloom {

/// How records that hold JSON as text, numbers that may be NaN and verdicts appear in lines of
/// JSON (see json_lines.h).

/// Text that holds JSON becomes part of the line; other text stays text.
nlohmann::json EmbedJson(const std::string& text);
/// The inverse.
std::string ExtractJson(const nlohmann::json& json);

/// JSON has no NaN: null stands for it.
double RealFromJson(const nlohmann::json& json);

}  // namespace bayloom
