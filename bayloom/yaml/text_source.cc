// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/yaml/text_source.h"

#include <fmt/format.h>
#include <yaml-cpp/mark.h>

#include <algorithm>

#include "bayloom/base/single_line.h"
#include "bayloom/base/text_limits.h"

namespace bayloom::yaml {

std::string TextSource::Place(const YAML::Mark& mark) const {
  if (mark.is_null()) return base::SingleLine(name, base::kMaxPathBytes) + ": ";
  // The run with the line: the last that begins at it or before.
  const auto after =
      std::ranges::upper_bound(lines, int64_t{mark.line}, {}, &ComposedText::Run::first);
  const bool is_composed = after != lines.begin();
  const ComposedText::Run* run = is_composed ? &*std::prev(after) : nullptr;
  return fmt::format(
      "{}:{}:{}: ", base::SingleLine(is_composed ? *run->file : name, base::kMaxPathBytes),
      is_composed ? run->number + mark.line - run->first : mark.line + 1, mark.column + 1);
}

}  // namespace bayloom::yaml
