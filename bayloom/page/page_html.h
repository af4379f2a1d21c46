// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace bayloom::page {

enum class PageKind : uint8_t {
  kFile,  ///< complete in itself: it asks for nothing, from no address
  kLive,  ///< asks the server it came from, and no other, for what is new
};

/// A page that shows a document of PageReader: one file of HTML with its styles, scripts and data.
/// Its security policy allows no other script, style or connection.
std::string PageHtml(const nlohmann::json& document, PageKind kind);

/// The policy as a header's value, for servers.
std::string ContentSecurityPolicy(PageKind kind);

/// A document as text in one line of ASCII that may stand between tags of HTML: without '<', '>'
/// and '&'. Bytes that are no UTF-8 become U+FFFD.
std::string DocumentText(const nlohmann::json& document);

}  // namespace bayloom::page
