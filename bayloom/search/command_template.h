// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/base/shell_text.h"

namespace bayloom::search {

/// A text with holes to be filled with values:
///
///     --tile={tile}       the parameter `tile`
///     {order[0]}          the first item of a permutation, of a factorization
///     {{ and }}           a brace
///     {tile?--tile={tile}}  a section: only where `tile` is active; not in another one
///
/// Within a section }} is a brace where it closes a {{ of the section's own; otherwise the first
/// brace ends the section.
class TextTemplate {
 public:
  struct Placeholder {
    std::string name;
    int index = -1;     ///< of the item; -1 for the whole value
    size_t column = 0;  ///< of its brace in the text, from 1
    /// Where it stands if the text is a shell's.
    base::ShellContext context = base::ShellContext::kPlain;
  };
  struct Section {
    std::string name;   ///< of the parameter
    size_t column = 0;  ///< of its brace in the text, from 1
    /// Whether a shell reads on after the section as if it were not there.
    bool is_balanced = true;
  };
  using Filler = std::function<std::string(const Placeholder&)>;
  using IsActive = std::function<bool(const std::string& name)>;

  /// Refuses unbalanced braces and holes that are no names, saying at which column.
  static Result<TextTemplate> Parse(std::string_view text);

  /// The text with every hole replaced by what `filler` says, without the sections of inactive
  /// parameters. `is_active` may be empty if all are active.
  std::string Fill(const Filler& filler, const IsActive& is_active = {}) const;
  std::vector<Placeholder> Placeholders() const;
  const std::vector<Section>& sections() const { return sections_; }
  /// Whether nothing stands outside of sections that are left out, and there is such a section; or
  /// a hole outside of sections is that of an inactive parameter.
  bool IsLeftOut(const IsActive& is_active) const;

 private:
  struct Part {
    std::string text = {};  ///< before the hole
    bool has_hole = false;
    Placeholder hole = {};
    int section = -1;  ///< that it is in; -1: none
  };
  std::vector<Part> parts_;
  std::vector<Section> sections_;
};

/// Splits a command line into arguments as a shell would: blanks separate, quotes and backslashes
/// keep together. Nothing else of a shell: no variables, pipes or redirections.
Result<std::vector<std::string>> SplitArguments(std::string_view text);

}  // namespace bayloom::search
