// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/options/derivations_option.h"

#include <CLI/App.hpp>

#include "bayloom/cli/help.h"
#include "bayloom/sketch/derivations/derivation_choice.h"
#include "bayloom/sketch/derivations/derivations.h"

namespace bayloom::cli {

void AddDerivationsOption(CLI::App& command, std::optional<std::string>& derivations) {
  ListNames(Advanced(command
                         .add_option("--derivations", derivations,
                                     "Algorithms to try besides: all that are about as exact,\n"
                                     "none, or names")
                         ->option_text("NAME,...")
                         ->default_str("all"))
                ->check([](const std::string& text) {
                  const auto choice = sketch::DerivationChoice::Parse(text);
                  return choice ? std::string() : choice.error().message;
                }),
            sketch::Derivations().Names(), sketch::Derivations().ExperimentalNames());
}

}  // namespace bayloom::cli
