// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/page/page_html.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

namespace bayloom::page {

// Generated from assets/ when the program is built.
extern const char kPageTemplate[];
extern const char kPageStyle[];
extern const char kDomScript[];
extern const char kFormatScript[];
extern const char kDataScript[];
extern const char kChartScript[];
extern const char kPlotsScript[];
extern const char kParallelScript[];
extern const char kTrialsScript[];
extern const char kViewsScript[];
extern const char kMainScript[];

namespace {

/// The scripts in the order in which they are hashed for the policy (CMakeLists.txt).
constexpr const char* const kScripts[] = {kDomScript,    kFormatScript, kDataScript,
                                          kChartScript,  kPlotsScript,  kParallelScript,
                                          kTrialsScript, kViewsScript,  kMainScript};

int DigitOf(char hexadecimal) {
  return hexadecimal <= '9' ? hexadecimal - '0' : hexadecimal - 'a' + 10;
}

/// A hash in base 64, as policies name scripts, from its hexadecimal digits: three of these are two
/// characters; zeros fill up the last three.
std::string Base64OfHex(std::string hex) {
  constexpr const char* kCharacters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const size_t bytes = hex.size() / 2, size = (8 * bytes + 5) / 6;
  hex.append((3 - hex.size() % 3) % 3, '0');
  std::string text;
  for (size_t i = 0; i + 2 < hex.size(); i += 3) {
    const int bits = DigitOf(hex[i]) << 8 | DigitOf(hex[i + 1]) << 4 | DigitOf(hex[i + 2]);
    text += kCharacters[bits >> 6];
    text += kCharacters[bits & 63];
  }
  text.resize(size);
  return text + std::string((3 - bytes % 3) % 3, '=');
}

std::string Script() {
  std::string script;
  for (const char* part : kScripts) script += part;
  return script;
}

/// The template with each {{NAME}} replaced. What is put in is not looked at.
std::string Filled(std::string_view text, const std::map<std::string, std::string>& parts) {
  std::string filled;
  while (true) {
    const size_t begin = text.find("{{");
    filled += text.substr(0, begin);
    if (begin == std::string_view::npos) return filled;
    const size_t end = text.find("}}", begin);
    filled += parts.at(std::string(text.substr(begin + 2, end - begin - 2)));
    text.remove_prefix(end + 2);
  }
}

}  // namespace

std::string ContentSecurityPolicy(PageKind kind) {
  return fmt::format(
      "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; {}"
      "base-uri 'none'; form-action 'none'",
      Base64OfHex(BAYLOOM_PAGE_SCRIPT_SHA256), Base64OfHex(BAYLOOM_PAGE_STYLE_SHA256),
      kind == PageKind::kLive ? "connect-src 'self'; " : "");
}

std::string DocumentText(const nlohmann::json& document) {
  const std::string json =
      document.dump(-1, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace);
  std::string text;
  text.reserve(json.size() + json.size() / 16);
  for (const char c : json) {
    if (c == '<' || c == '>' || c == '&') {
      text += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      text += c;
    }
  }
  return text;
}

std::string PageHtml(const nlohmann::json& document, PageKind kind) {
  return Filled(kPageTemplate, {{"POLICY", ContentSecurityPolicy(kind)},
                                {"STYLE", kPageStyle},
                                {"SCRIPT", Script()},
                                {"KIND", kind == PageKind::kLive ? "live" : "file"},
                                {"DATA", DocumentText(document)}});
}

}  // namespace bayloom::page
