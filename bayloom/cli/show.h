// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>

#include "bayloom/cli/options/model_option.h"
#include "bayloom/cli/options/target_option.h"
#include "bayloom/tensor/workload.h"

namespace bayloom::cli {

struct ShowOptions {
  ModelOption subject;  ///< a model or a database
  std::string op;
  std::string architecture;  ///< a name or a file
  std::optional<int64_t> task;
  bool trace = false;
  bool history = false;
  bool assembly = false;
  bool why = false;
  bool json = false;
  std::optional<int64_t> run;
  TargetOption target;
};

/// What a workload computes, its default program, its design spaces.
void ShowWorkload(const tensor::Workload& workload, const ShowOptions& options);
/// A model: its tasks, or the workload of one of them.
void ShowModel(const ShowOptions& options);
/// An accelerator as a file of Timeloop's: what comes with the program as it is, with its comments,
/// and a file as it was read.
void ShowArchitecture(const ShowOptions& options);
/// A database: its runs and tasks.
void ShowDatabase(const ShowOptions& options);
/// One task of a database: its best program, with trace, history, assembly or an explanation
/// where asked for.
void ShowTask(const ShowOptions& options);

}  // namespace bayloom::cli
