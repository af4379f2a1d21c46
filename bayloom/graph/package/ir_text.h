// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/graph/length.h"

namespace bayloom::graph {

/// A module of LLVM's intermediate representation as text: tables of constants, and what they name.
/// Structures are written as "{ i32 1, ptr null }"; LLVM lays them out as C does.
class IrText {
 public:
  /// A constant array with these elements, all of the type, as a pointer: "ptr @table7"; "ptr null"
  /// where there are none. Equal tables are there once.
  std::string Table(std::string_view type, std::span<const std::string> elements);
  std::string Numbers(std::string_view type, std::span<const int64_t> numbers);
  /// Text that ends with a zero, as a pointer.
  std::string Chars(std::string_view text);
  /// A number that follows from the lengths of open dimensions, as a pointer.
  std::string Length(const graph::Length& length);

  /// Lines of the module. What they declare is declared once.
  void Add(std::string_view lines);

  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::map<std::string, std::string> known_;  ///< pointers by what they point to
};

}  // namespace bayloom::graph
