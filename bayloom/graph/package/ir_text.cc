// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/package/ir_text.h"

#include <fmt/format.h>

namespace bayloom::graph {

std::string IrText::Table(std::string_view type, std::span<const std::string> elements) {
  if (elements.empty()) return "ptr null";
  std::string constant = fmt::format("[{} x {}] [", elements.size(), type);
  for (size_t i = 0; i < elements.size(); ++i) {
    constant += fmt::format("{}{} {}", i > 0 ? ", " : "", type, elements[i]);
  }
  constant += "]";
  const auto [known, is_new] = known_.emplace(constant, fmt::format("ptr @table{}", known_.size()));
  if (is_new) {
    text_ +=
        fmt::format("{} = private unnamed_addr constant {}\n", known->second.substr(4), constant);
  }
  return known->second;
}

std::string IrText::Numbers(std::string_view type, std::span<const int64_t> numbers) {
  std::vector<std::string> elements;
  for (const int64_t number : numbers) elements.push_back(std::to_string(number));
  return Table(type, elements);
}

std::string IrText::Chars(std::string_view text) {
  std::vector<std::string> elements;
  for (const char c : text) elements.push_back(std::to_string(static_cast<signed char>(c)));
  elements.emplace_back("0");
  return Table("i8", elements);
}

std::string IrText::Length(const graph::Length& length) {
  std::vector<std::string> steps;
  for (const bayloom_length_step& step : length.Steps()) {
    steps.push_back(fmt::format("{{ i64 {}, i64 {} }}", step.operation, step.operand));
  }
  return Table("{ i64, i64 }", steps);
}

void IrText::Add(std::string_view lines) {
  if (known_.emplace(lines, "").second) text_ += lines;
}

}  // namespace bayloom::graph
