// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "bayloom/cli/options/learn_from_option.h"
#include "bayloom/cli/options/model_option.h"
#include "bayloom/cli/options/store_option.h"
#include "bayloom/cli/options/target_option.h"
#include "bayloom/cli/options/workers_option.h"
#include "bayloom/tuning/tune.h"

namespace bayloom::cli {

/// What `bayloom tune` is given.
struct TuneArguments {
  ModelOption model;
  std::string op;
  std::optional<int64_t> trials;
  std::string time;
  std::string until_gain;
  tuning::TuneOptions options;
  LearnFromOption learn_from;
  std::string database;
  bool sandbox = false;
  bool json = false;
  TargetOption target;
  StoreOption store;
  WorkersOption workers;

  /// What they say of the tuning. Throws InputError for texts that say nothing.
  tuning::TuneOptions Options() const;
};

/// Its options and its help.
void AddTuneOptions(TuneArguments& arguments, CLI::App& tune);

}  // namespace bayloom::cli
