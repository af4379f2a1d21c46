// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/options/define_option.h"

#include <CLI/App.hpp>

#include "bayloom/base/result.h"
#include "bayloom/cli/help.h"

namespace bayloom::cli {

void DefineOption::AddTo(CLI::App& command) {
  Advanced(command
               .add_option("--define", definitions_,
                           "Variables of files that are templates, e.g. datawidth=8")
               ->option_text("NAME=VALUE..."));
}

yaml::TemplateVariables DefineOption::Variables() const {
  yaml::TemplateVariables variables;
  for (const std::string& text : definitions_) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw InputError("--define: '" + text + "' is not NAME=VALUE");
    }
    const std::string name = text.substr(0, equals);
    if (!variables.emplace(name, text.substr(equals + 1)).second) {
      throw InputError("--define: '" + name + "' is given twice");
    }
  }
  return variables;
}

}  // namespace bayloom::cli
