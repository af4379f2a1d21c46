#pragma once

#include <optional>
#include <string>

#include "bayloom/cli/target_option.h"

namespace bayloom {

struct ShowOptions {
  std::string subject;  ///< a database or a model
  std::string op;
  std::optional<int64_t> task;
  bool trace = false;
  bool history = false;
  bool assembly = false;
  bool json = false;
  TargetOption target;
};

/// An operator: what it computes, the untuned program, its design spaces.
void ShowOperator(const ShowOptions& options);
/// A database: its sessions and tasks.
void ShowDatabase(const ShowOptions& options);
/// One task of a database: its best program, with trace, history or assembly where asked for.
void ShowTask(const ShowOptions& options);

}  // namespace bayloom
