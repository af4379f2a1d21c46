#include "bayloom/record/json_text.h"

#include <limits>
#include <nlohmann/json.hpp>

namespace bayloom {

using Json = nlohmann::json;

Json EmbedJson(const std::string& text) {
  if (text.empty()) return nullptr;
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_discarded() ? Json(text) : json;
}

std::string ExtractJson(const Json& json) {
  if (json.is_null()) return "";
  return json.is_string() ? json.get<std::string>() : json.dump();
}

double RealFromJson(const Json& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

}  // namespace bayloom
