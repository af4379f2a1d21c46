// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bayloom/record/store.h"
#include "bayloom/remote/pool.h"
#include "bayloom/report/run_progress.h"

namespace CLI {
class App;
}

namespace bayloom::cli {

/// The options --workers and --ray: processes on this and other machines that try candidates.
struct WorkersOption {
  std::vector<std::string> commands;
  std::string ray;  ///< address of a cluster of Ray whose machines have workers; empty: none
  std::string ray_command = "bayloom worker";  ///< what each of those machines runs

  WorkersOption();
  void AddTo(CLI::App& command);
  bool empty() const { return commands.empty() && ray.empty(); }
  /// The same on the command line.
  std::vector<std::string> Arguments() const;
  /// Starts them and says how many there are. Throws InputError where none can be used, and
  /// CheckFailed where that was stopped.
  std::unique_ptr<remote::WorkerPool> Connect() const;

  /// Has what is to be known of workers written into a progress display as long as it lives;
  /// before and after, that goes to standard error.
  class [[nodiscard]] NotesInto {
   public:
    NotesInto(const WorkersOption& workers, report::RunProgress& progress);
    ~NotesInto();
    NotesInto(const NotesInto&) = delete;
    NotesInto& operator=(const NotesInto&) = delete;

   private:
    const WorkersOption& workers_;
  };

 private:
  std::shared_ptr<std::function<void(const std::string&)>> note_;
};

/// The workers' machine as the store has it; they are asked to measure it if it is new there.
/// Throws InputError where it cannot be measured, and CheckFailed where that was stopped.
target::Target TargetOfWorkers(remote::WorkerPool& pool, record::Store& store);

}  // namespace bayloom::cli
