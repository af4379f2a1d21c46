// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/read_line.h"

#include <fmt/format.h>

#include <istream>
#include <streambuf>

#include "bayloom/base/result.h"

namespace bayloom::base {

std::optional<Line> ReadLine(std::istream& in, size_t max_bytes) {
  using Traits = std::istream::traits_type;
  std::streambuf& buffer = *in.rdbuf();
  Line line;
  for (Traits::int_type next = buffer.sbumpc(); !Traits::eq_int_type(next, Traits::eof());
       next = buffer.sbumpc()) {
    if (next == '\n') return line;
    if (line.text.size() == max_bytes) {
      throw InputError(fmt::format("a line is longer than {} MiB", max_bytes >> 20));
    }
    line.text += Traits::to_char_type(next);
  }
  if (line.text.empty()) return std::nullopt;
  line.is_whole = false;
  return line;
}

}  // namespace bayloom::base
