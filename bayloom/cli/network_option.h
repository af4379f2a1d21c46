#pragma once

#include <string>
#include <vector>

#include "bayloom/cli/model_option.h"
#include "bayloom/cli/target_option.h"
#include "bayloom/graph/tasks.h"
#include "bayloom/tuning/choose_program.h"

namespace bayloom {

/// A network with a program for each of its tasks.
struct ChosenNetwork {
  TaskGraph network;
  Target target;
  std::vector<ChosenProgram> chosen;  ///< parallel to network.tasks

  std::vector<const Program*> Programs() const;
  int TunedTasks() const;
};

/// The arguments that name a model and the records to use for it.
struct NetworkOption {
  ModelOption model;
  TargetOption target;
  std::string database;

  void AddTo(CLI::App& command);
  /// The model with the best recorded programs; says on standard error how many there are.
  /// Throws InputError for what cannot be used, a database that is not there among it.
  ChosenNetwork Load() const;
};

/// The same network with its untuned programs.
ChosenNetwork Untuned(const ChosenNetwork& network);

}  // namespace bayloom
