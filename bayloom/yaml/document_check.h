// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "bayloom/yaml/text_source.h"

namespace bayloom::yaml {

/// The tag of a scalar that stands for a value of another document: `!include_loaded 3`.
inline constexpr const char* kIncludedTag = "!include_loaded";

/// A value with all within it, aliases and what is included followed.
struct Extent {
  int64_t values = 1;
  int height = 0;  ///< lists and maps within each other
};

/// Which of `count` included values a scalar with kIncludedTag names; -1: none.
int64_t IncludedIndex(const std::string& scalar, size_t count);

/// Throws InputError, with the place, unless the text is one YAML document in UTF-8 that stays
/// within the limits of base/text_limits.h when its aliases and what it includes are followed.
/// Takes time and memory in proportion to the text, however much these repeat. Throws
/// YAML::Exception for what is no YAML.
Extent CheckDocument(const std::string& text, const TextSource& source,
                     std::span<const Extent> included);

}  // namespace bayloom::yaml
