// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "bayloom/base/result.h"

namespace bayloom::base {

/// Whether brackets outside of texts are open within each other more than kMaxJsonDepth times
/// (text_limits.h): libraries copy and print values recursively.
bool IsNestedTooDeep(std::string_view json);

/// JSON that others wrote. Fails for what is no JSON, is longer than kMaxJsonBytes or is nested
/// too deep. Texts in it are valid UTF-8.
Result<nlohmann::json> ParseJson(std::string_view text);

/// JSON as Python's json.dumps writes it: NaN, Infinity and -Infinity, which are no JSON, become
/// null.
Result<nlohmann::json> ParsePythonJson(std::string_view text);

/// As ParseJson where it does not matter why there is no value: a discarded value then.
nlohmann::json ParseJsonOrDiscard(std::string_view text);

/// What an exception of the JSON library says, in one line and without the library's own numbers:
/// "key 'name' not found".
std::string JsonErrorText(std::string_view what);

}  // namespace bayloom::base
