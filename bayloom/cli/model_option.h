#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace bayloom {

// What is loaded; graph/tasks.h and tuning/tuning_subject.h have them.
struct Graph;
struct TaskGraph;
struct TuningSubject;

/// The argument that names a model and the option --shape.
struct ModelOption {
  std::string path;
  std::vector<std::string> shapes;  ///< "input=1x3x224x224"

  /// Returns the argument, for the command to say whether it is required.
  CLI::Option* AddTo(CLI::App& command);
  /// The network as the file has it. Throws InputError for what cannot be used.
  Graph LoadGraph() const;
  /// The network, optimized, as calls of tasks. Throws InputError for what cannot be used.
  TaskGraph Load() const;
  /// The network as what is to be tuned, named as its file.
  TuningSubject Subject() const;
  /// The database of its records unless said otherwise: MODEL.db in the current folder; without a
  /// model operators.db.
  std::string DefaultDatabase() const;
};

}  // namespace bayloom
