// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <CLI/App.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/base/registry.h"
#include "bayloom/base/result.h"

namespace bayloom::cli {

// Two levels of help: --help shows what a user decides, on one screen; --help-all also shows
// advanced options, details and the names of experimental variants.

/// Columns of the help.
inline constexpr int kHelpWidth = 80;

/// A description or a footer of which --help shows the first part and --help-all both.
std::string WithDetails(const std::string& text, const std::string& details);

/// Marks an option that only --help-all shows.
CLI::Option* Advanced(CLI::Option* option);

/// Names of variants, as registries list them.
using Names = std::vector<std::string>;

/// Adds to an option's description the names that it takes; experimental ones are details.
CLI::Option* ListNames(CLI::Option* option, const Names& names, const Names& experimental = {});
/// The same; any other name is refused.
CLI::Option* OneOf(CLI::Option* option, const Names& names, const Names& experimental = {});

/// The same for a registry's variants, whose experimental ones are known, too.
template <typename Maker>
CLI::Option* OneOf(CLI::Option* option, const base::Registry<Maker>& registry) {
  ListNames(option, registry.Names(), registry.ExperimentalNames());
  return option->check([&registry](const std::string& name) {
    const Status known = registry.Check(name);
    return known ? std::string() : known.error().message;
  });
}

/// Gives a program the options --help and --help-all and the layout of their output. Subcommands
/// added afterwards have them, too.
void InstallHelp(CLI::App& program);

/// The whole help of a program or a subcommand whose full name is `name`.
std::string HelpText(const CLI::App& command, const std::string& name, bool all);

}  // namespace bayloom::cli
