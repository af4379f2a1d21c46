// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace bayloom::cli {

/// Adds --derivations: which algorithms programs may be made by beside the definition.
void AddDerivationsOption(CLI::App& command, std::optional<std::string>& derivations);

}  // namespace bayloom::cli
