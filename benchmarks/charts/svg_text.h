// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

namespace bayloom::charts {

/// Text for elements and attributes of XML, of any content: in one line (base::SingleLine, which
/// leaves no character that XML 1.0 forbids), not too long for a chart, with XML's own characters
/// as entities.
std::string SvgText(std::string_view text);

}  // namespace bayloom::charts
