// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/record/json_text.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace bayloom::record {

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

std::string HashToHex(uint64_t hash) { return fmt::format("{:016x}", hash); }

uint64_t HashFromHex(const Json& json) {
  const std::string text = json.get<std::string>();
  size_t used = 0;
  const uint64_t hash = std::stoull(text, &used, 16);
  if (used != text.size()) throw std::invalid_argument("a hash is 16 hexadecimal digits");
  return hash;
}

}  // namespace bayloom::record
