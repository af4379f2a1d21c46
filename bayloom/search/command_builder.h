// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bayloom/base/run_command.h"
#include "bayloom/base/scratch_folder.h"
#include "bayloom/search/evaluator_options.h"
#include "bayloom/space/configuration.h"
#include "bayloom/space/space.h"

namespace bayloom::search {

/// The text of a value for a command line: numbers in their shortest form, lists with commas.
std::string TextOf(const space::Value& value);

/// Fills the holes of an evaluator's command: with the values of a configuration, with the folders
/// `{work}` and `{here}`. An argument or a variable of the environment with a hole for an inactive
/// parameter is left out; in a shell's text such a hole is empty.
class CommandBuilder {
 public:
  CommandBuilder(std::shared_ptr<const space::Space> space, const EvaluatorOptions& options);

  /// The command for a configuration.
  base::Command Fill(const space::Configuration& configuration) const {
    return FillWith(&configuration);
  }
  /// The command of a process that serves all configurations.
  base::Command Fill() const { return FillWith(nullptr); }

 private:
  base::Command FillWith(const space::Configuration* configuration) const;
  std::string TextFor(const TextTemplate::Placeholder& hole,
                      const space::Configuration* configuration) const;

  std::shared_ptr<const space::Space> space_;
  EvaluatorOptions options_;
  base::ScratchFolder work_;
};

}  // namespace bayloom::search
