// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "bayloom/trial/outcome.h"

namespace bayloom::search {

// Cache files of Kernel Tuner (its option `cache`): an object with `tune_params_keys`, the names of
// the parameters in order; `tune_params`, their values; `objective`; `objective_higher_is_better`,
// which Bayloom adds; and `cache`, an object for each configuration with the parameters' values,
// what was measured, and the times it took in milliseconds.

/// Whether a text looks like one, without reading all of it as JSON.
bool LooksLikeKernelTunerCache(const std::string& text);

/// Of what an interrupted run of Kernel Tuner leaves, which may end within a line: the complete
/// entries, with the brackets that close the file. Any other text as it is.
std::string ClosedKernelTunerCache(std::string text);

/// The cache without its configurations, as JSON. Throws InputError.
std::string KernelTunerCacheHeader(const std::string& text, const std::string& path);

bool IsKernelTunerCache(const nlohmann::json& file);

/// The first objective that the file names; "time" where it names none.
std::string KernelTunerObjective(const nlohmann::json& file);

/// The parameters' values of one entry of `cache`. Throws a JSON exception where one is missing.
nlohmann::json KernelTunerConfiguration(const nlohmann::json& file, const nlohmann::json& entry);

/// What an entry says of its configuration: the first measurement is the outcome's value. Throws
/// std::runtime_error where one of them is not in it.
trial::Outcome KernelTunerOutcome(const nlohmann::json& entry,
                                  std::span<const std::string> measurements);

}  // namespace bayloom::search
