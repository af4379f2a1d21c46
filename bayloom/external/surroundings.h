#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bayloom/base/run_command.h"
#include "bayloom/base/scratch_folder.h"
#include "bayloom/external/evaluator_options.h"
#include "bayloom/space/configuration.h"
#include "bayloom/space/space.h"

namespace bayloom {

/// The text of a value for a command line: numbers in their shortest form, lists with commas.
std::string TextOf(const Value& value);

/// Fills the holes of an evaluator's command: with the values of a configuration, with the folders
/// `{work}` and `{here}`.
class CommandFiller {
 public:
  CommandFiller(std::shared_ptr<const Space> space, const EvaluatorOptions& options);

  /// The command for a configuration.
  Command Fill(const Configuration& configuration) const { return FillWith(&configuration); }
  /// The command of a process that serves all configurations.
  Command Fill() const { return FillWith(nullptr); }

 private:
  Command FillWith(const Configuration* configuration) const;
  std::string TextFor(const TextTemplate::Hole& hole, const Configuration* configuration) const;

  std::shared_ptr<const Space> space_;
  EvaluatorOptions options_;
  ScratchFolder work_;
};

}  // namespace bayloom
