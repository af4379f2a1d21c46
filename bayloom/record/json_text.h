// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace bayloom::record {

/// How records that hold JSON as text, numbers that may be NaN and hashes appear in lines of JSON
/// (see json_lines.h).

constexpr const char* kJsonLinesFormat = "bayloom-records";
constexpr int kJsonLinesVersion = 1;

/// Text that holds JSON becomes part of the line; other text stays text.
nlohmann::json EmbedJson(const std::string& text);
/// The inverse.
std::string ExtractJson(const nlohmann::json& json);

/// JSON has no NaN: null stands for it.
double RealFromJson(const nlohmann::json& json);

/// 16 hexadecimal digits.
std::string HashToHex(uint64_t hash);
/// Throws std::invalid_argument for other text.
uint64_t HashFromHex(const nlohmann::json& json);

}  // namespace bayloom::record
