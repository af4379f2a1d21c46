// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/derivations/derivation_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bayloom/base/single_line.h"
#include "bayloom/sketch/derivations/derivations.h"

namespace bayloom::sketch {

Result<DerivationChoice> DerivationChoice::Parse(std::string_view text) {
  DerivationChoice choice;
  if (text == "all") return choice;
  choice.names_.emplace();
  if (text == "none") return choice;
  for (bool more = true; more;) {
    const size_t comma = text.find(',');
    const std::string name(text.substr(0, comma));
    if (Status known = Derivations().Check(base::SingleLine(name)); !known) {
      return Error{known.error().message + "; or 'all', or 'none'"};
    }
    choice.names_->insert(name);
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  return choice;
}

bool DerivationChoice::Contains(const std::string& name) const {
  // Its errors are some twenty times those of the definition.
  constexpr std::string_view kOnlyByName = "winograd-6x6";
  return names_ ? names_->contains(name) : name != kOnlyByName;
}

bool DerivationChoice::Allows(const tensor::Trace& trace) const {
  return std::ranges::all_of(trace.instructions(), [&](const tensor::Instruction& step) {
    return step.kind != tensor::InstructionKind::kWinograd ||
           Contains(fmt::format("winograd-{0}x{0}", step.attributes[0]));
  });
}

std::string DerivationChoice::ToString() const {
  if (!names_) return "all";
  return names_->empty() ? "none" : fmt::format("{}", fmt::join(*names_, ","));
}

}  // namespace bayloom::sketch
