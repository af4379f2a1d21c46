#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bayloom/external/evaluator_options.h"
#include "bayloom/external/program_run.h"
#include "bayloom/space/configuration.h"
#include "bayloom/space/space.h"

namespace bayloom {

/// An empty folder that disappears with everything in it.
class WorkFolder {
 public:
  WorkFolder();  ///< throws InputError where none can be made
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The text of a value for a command line: numbers in their shortest form, lists with commas.
std::string TextOf(const Value& value);

/// Fills the holes of an evaluator's command: with the values of a configuration, with the folders
/// `{work}` and `{here}`.
class CommandFiller {
 public:
  CommandFiller(std::shared_ptr<const Space> space, const EvaluatorOptions& options);

  /// The call for a configuration.
  ProgramCall Call(const Configuration& configuration) const;
  /// The call for a process that serves all configurations.
  ProgramCall Call() const { return CallWith(nullptr); }

 private:
  ProgramCall CallWith(const Configuration* configuration) const;
  std::string Fill(const TextTemplate::Hole& hole, const Configuration* configuration) const;

  std::shared_ptr<const Space> space_;
  EvaluatorOptions options_;
  WorkFolder work_;
};

}  // namespace bayloom
