// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace bayloom::record {

/// How records that hold JSON as text, numbers that may be NaN, hashes, and text in any
/// encoding appear in lines of JSON (see json_lines.h). What is put into a line comes out the same.

constexpr const char* kJsonLinesFormat = "bayloom-records";
constexpr int kJsonLinesVersion = 1;

/// Text that is JSON as Bayloom writes it becomes part of the line; other text stays text.
nlohmann::json EmbedJson(const std::string& text);
/// The inverse.
std::string ExtractJson(const nlohmann::json& json);

/// Text that is not UTF-8 becomes {"base64": "..."}.
nlohmann::json TextToJson(const std::string& text);
/// The inverse. Throws std::invalid_argument for anything else.
std::string TextFromJson(const nlohmann::json& json);

/// JSON has no NaN and no infinity: null, "inf" and "-inf" stand for them.
nlohmann::json RealToJson(double number);
/// The inverse. Throws std::invalid_argument for anything else.
double RealFromJson(const nlohmann::json& json);

/// 16 hexadecimal digits.
std::string HashToHex(uint64_t hash);
/// Throws std::invalid_argument for other text.
uint64_t HashFromHex(const nlohmann::json& json);

}  // namespace bayloom::record
