// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bayloom/base/single_line.h"

namespace bayloom::base {

std::string UnknownName(std::string_view kind, std::string_view name,
                        const std::vector<std::string>& known) {
  return fmt::format("unknown {} '{}'; known are {}", kind, SingleLine(name),
                     fmt::join(known, ", "));
}

}  // namespace bayloom::base
