// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/search/command_template.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <utility>

namespace bayloom::search {
namespace {

constexpr std::string_view kNameCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";

/// Of the text behind a brace: the name of a section that begins there; empty for a hole.
std::string_view SectionName(std::string_view text) {
  const size_t end = text.find_first_not_of(kNameCharacters);
  return end != std::string_view::npos && text[end] == '?' ? text.substr(0, end)
                                                           : std::string_view();
}

/// "tile", "order[2]"; nullopt for anything else.
std::optional<TextTemplate::Placeholder> ParseHole(std::string_view text) {
  TextTemplate::Placeholder hole;
  const size_t bracket = text.find('[');
  hole.name = text.substr(0, bracket);
  if (hole.name.empty() || hole.name.find_first_not_of(kNameCharacters) != std::string::npos) {
    return std::nullopt;
  }
  if (bracket == std::string_view::npos) return hole;
  const std::string_view index = text.substr(bracket + 1);
  if (index.size() < 2 || index.size() > 4 || index.back() != ']') return std::nullopt;
  const char* end = index.data() + index.size() - 1;
  const auto [used, error] = std::from_chars(index.data(), end, hole.index);
  if (error != std::errc() || used != end || hole.index < 0) return std::nullopt;
  return hole;
}

}  // namespace

Result<TextTemplate> TextTemplate::Parse(std::string_view text) {
  TextTemplate parsed;
  base::ShellScanner scanner;
  base::ShellContext before_section = base::ShellContext::kPlain;
  int braces_in_section = 0;  // that are open
  Part part;
  const auto end_part = [&](int section_of_next) {
    scanner.Feed(part.text);
    if (part.has_hole) part.hole.context = scanner.context();
    parsed.parts_.push_back(std::exchange(part, {.section = section_of_next}));
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_doubled = i + 1 < text.size() && text[i + 1] == c;
    const std::string_view section = c == '{' ? SectionName(text.substr(i + 1)) : "";
    const bool ends_section = c == '}' && part.section >= 0 && braces_in_section == 0;
    if ((c == '{' || c == '}') && is_doubled && !ends_section) {
      part.text += c;
      if (part.section >= 0) braces_in_section += c == '{' ? 1 : -1;
      ++i;
    } else if (c == '}' && part.section >= 0) {
      end_part(-1);
      parsed.sections_.back().is_balanced = scanner.context() == before_section;
    } else if (c == '}') {
      return Error{
          fmt::format("'}}' at column {} closes nothing; write '}}}}' for a brace", i + 1)};
    } else if (!section.empty() && part.section >= 0) {
      return Error{
          fmt::format("'{{{}?' at column {} begins a section within a section", section, i + 1)};
    } else if (!section.empty()) {
      end_part(static_cast<int>(parsed.sections_.size()));
      before_section = scanner.context();
      braces_in_section = 0;
      parsed.sections_.push_back({std::string(section), i + 1});
      i += section.size() + 1;
    } else if (c == '{') {
      const size_t close = text.find('}', i);
      const std::optional<Placeholder> hole = close == std::string_view::npos
                                                  ? std::nullopt
                                                  : ParseHole(text.substr(i + 1, close - i - 1));
      if (!hole) {
        return Error{
            fmt::format("'{{' at column {} begins no '{{parameter}}'; write '{{{{' for a "
                        "brace",
                        i + 1)};
      }
      part.has_hole = true;
      part.hole = *hole;
      part.hole.column = i + 1;
      end_part(part.section);
      i = close;
    } else {
      part.text += c;
    }
  }
  if (part.section >= 0) {
    const Section& open = parsed.sections_.back();
    return Error{
        fmt::format("the section '{{{}?' at column {} is never closed", open.name, open.column)};
  }
  parsed.parts_.push_back(std::move(part));
  return parsed;
}

std::string TextTemplate::Fill(const Filler& filler, const IsActive& is_active) const {
  std::string text;
  for (const Part& part : parts_) {
    if (part.section >= 0 && is_active && !is_active(sections_[part.section].name)) continue;
    text += part.text;
    if (part.has_hole) text += filler(part.hole);
  }
  return text;
}

bool TextTemplate::IsLeftOut(const IsActive& is_active) const {
  bool is_empty = true, lacks_section = false;
  for (const Part& part : parts_) {
    if (part.section >= 0 && !is_active(sections_[part.section].name)) {
      lacks_section = true;
      continue;
    }
    if (part.section < 0 && part.has_hole && !is_active(part.hole.name)) return true;
    is_empty = is_empty && part.text.empty() && !part.has_hole;
  }
  return is_empty && lacks_section;
}

std::vector<TextTemplate::Placeholder> TextTemplate::Placeholders() const {
  std::vector<Placeholder> holes;
  for (const Part& part : parts_) {
    if (part.has_hole) holes.push_back(part.hole);
  }
  return holes;
}

Result<std::vector<std::string>> SplitArguments(std::string_view text) {
  std::vector<std::string> arguments;
  std::string argument;
  bool is_open = false;  // an argument has begun, though it may be empty
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && quote != '\'') {
      if (++i == text.size()) return Error{"a backslash at the end escapes nothing"};
      // Between double quotes a backslash escapes only what is special there.
      if (quote == '"' && text[i] != '"' && text[i] != '\\') argument += c;
      argument += text[i];
      is_open = true;
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        argument += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      is_open = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (is_open) arguments.push_back(std::move(argument));
      argument.clear();
      is_open = false;
    } else {
      argument += c;
      is_open = true;
    }
  }
  if (quote != 0) return Error{fmt::format("the quote {} is never closed", quote)};
  if (is_open) arguments.push_back(std::move(argument));
  return arguments;
}

}  // namespace bayloom::search
