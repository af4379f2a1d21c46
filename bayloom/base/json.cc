// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bayloom/base/single_line.h"
#include "bayloom/base/text_limits.h"

namespace bayloom::base {

using Json = nlohmann::json;

bool IsNestedTooDeep(std::string_view text) {
  int depth = 0;
  bool in_text = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text) {
      if (c == '\\') ++i;
      if (c == '"') in_text = false;
    } else if (c == '"') {
      in_text = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxJsonDepth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

Result<Json> ParseJson(std::string_view text) {
  if (text.size() > kMaxJsonBytes) {
    return Error{fmt::format("it is longer than {} MiB", kMaxJsonBytes >> 20)};
  }
  if (IsNestedTooDeep(text)) {
    return Error{fmt::format("it is nested more than {} deep", kMaxJsonDepth)};
  }
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    const std::string_view before = text.substr(0, error.byte > 0 ? error.byte - 1 : 0);
    const auto lines = std::ranges::count(before, '\n');
    if (lines == 0) return Error{fmt::format("it is no JSON from column {} on", before.size() + 1)};
    return Error{fmt::format("it is no JSON from line {}, column {} on", lines + 1,
                             before.size() - before.rfind('\n'))};
  } catch (const Json::exception& error) {
    return Error{JsonErrorText(error.what())};
  }
}

Result<Json> ParsePythonJson(std::string_view text) {
  constexpr std::string_view kWords[] = {"-Infinity", "Infinity", "NaN"};
  std::string json;
  json.reserve(text.size());
  bool in_text = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    const auto* const word = std::ranges::find_if(
        kWords, [&](std::string_view w) { return !in_text && rest.starts_with(w); });
    if (word != std::end(kWords)) {
      json += "null";
      i += word->size() - 1;
      continue;
    }
    if (text[i] == '"') in_text = !in_text;
    json += text[i];
    if (in_text && text[i] == '\\' && i + 1 < text.size()) json += text[++i];
  }
  return ParseJson(json);
}

Json ParseJsonOrDiscard(std::string_view text) {
  Result<Json> json = ParseJson(text);
  return json ? *std::move(json) : Json(Json::value_t::discarded);
}

std::string JsonErrorText(std::string_view what) {
  const size_t name_end = what.find("] ");
  return SingleLine(name_end == std::string_view::npos ? what : what.substr(name_end + 2), 160);
}

}  // namespace bayloom::base
