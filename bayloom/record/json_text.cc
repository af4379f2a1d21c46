// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/record/json_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bayloom/base/base64.h"
#include "bayloom/base/json.h"
#include "bayloom/base/result.h"
#include "bayloom/base/utf8.h"

namespace bayloom::record {

using Json = nlohmann::json;

namespace {

constexpr const char* kBase64 = "base64";

bool IsEncodedText(const Json& json) {
  return json.is_object() && json.size() == 1 && json.contains(kBase64);
}

}  // namespace

Json EmbedJson(const std::string& text) {
  if (text.empty()) return nullptr;
  const Json json = base::ParseJsonOrDiscard(text);
  const bool is_embedded = !json.is_discarded() && !json.is_null() && !json.is_string() &&
                           !IsEncodedText(json) && json.dump() == text;
  return is_embedded ? json : TextToJson(text);
}

std::string ExtractJson(const Json& json) {
  if (json.is_null()) return "";
  return json.is_string() || IsEncodedText(json) ? TextFromJson(json) : json.dump();
}

Json TextToJson(const std::string& text) {
  if (base::IsUtf8(text)) return text;
  return {{kBase64, base::ToBase64(text)}};
}

std::string TextFromJson(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  if (!IsEncodedText(json) || !json[kBase64].is_string()) {
    throw std::invalid_argument("a text is expected where there is none");
  }
  Result<std::string> bytes = base::FromBase64(json[kBase64].get_ref<const std::string&>());
  if (!bytes) throw std::invalid_argument(bytes.error().message);
  return *std::move(bytes);
}

Json RealToJson(double number) {
  if (std::isnan(number)) return nullptr;
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  return number;
}

double RealFromJson(const Json& json) {
  if (json.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (json == "inf") return std::numeric_limits<double>::infinity();
  if (json == "-inf") return -std::numeric_limits<double>::infinity();
  if (!json.is_number()) throw std::invalid_argument("a number is expected where there is none");
  return json.get<double>();
}

std::string HashToHex(uint64_t hash) { return fmt::format("{:016x}", hash); }

uint64_t HashFromHex(const Json& json) {
  const std::string text = TextFromJson(json);
  uint64_t hash = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    throw std::invalid_argument("a hash is 16 hexadecimal digits");
  }
  return hash;
}

}  // namespace bayloom::record
