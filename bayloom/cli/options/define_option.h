// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/yaml/template/template.h"

namespace CLI {
class App;
}

namespace bayloom::cli {

/// The option --define: values of the variables of files that are templates.
class DefineOption {
 public:
  void AddTo(CLI::App& command);

  /// Throws InputError for what is not NAME=VALUE.
  yaml::TemplateVariables Variables() const;

 private:
  std::vector<std::string> definitions_;
};

}  // namespace bayloom::cli
