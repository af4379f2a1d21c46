// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "bayloom/record/run_record.h"

namespace bayloom::page {

/// How much of a database a reader of documents has: what PageReader::Since is asked to go on from.
/// The default one has nothing.
struct Cursor {
  uint64_t reader = 0;                         ///< the PageReader that made it
  int64_t revision = 0;                        ///< of its items
  std::map<record::RunId, int64_t> next = {};  ///< by run, the ordinal of the first trial to come

  /// "17.42_1.500_2.30": characters that need no quoting in a URL or a header.
  std::string ToText() const;
  /// nullopt for what no ToText wrote.
  static std::optional<Cursor> Parse(std::string_view text);

  bool operator==(const Cursor&) const = default;
};

}  // namespace bayloom::page
