// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/graph/precision_choice.h"
#include "bayloom/record/store.h"

namespace bayloom::tuning {

/// "f32", "tf32", "bf16", "f16".
std::string PrecisionName(tensor::DType dtype);
/// The type of such a name. Throws InputError for other names.
tensor::DType PrecisionOfName(std::string_view name);

/// What was decided for a network (graph::ChoosePrecision). Sessions keep it, so that the same
/// tasks are made wherever their programs are used.
struct NetworkPrecision {
  uint64_t network = 0;  ///< NetworkHash
  double tolerance = 0;
  graph::PrecisionChoice choice;
};

/// A hash of what the network computes, its constants included; names do not count. `graph` is one
/// that graph::Simplify has seen.
uint64_t NetworkHash(const graph::Graph& graph);

/// The precision of a session's networks, as its definition has it under "precision"; null for
/// float32, for which nothing is decided.
nlohmann::json PrecisionToJson(const std::vector<NetworkPrecision>& networks);
/// Empty where the definition, JSON as text, has none.
std::vector<NetworkPrecision> PrecisionsOfDefinition(const std::string& definition);

/// "f32", "bf16 within 0.02": what a session was begun with, or is asked for, of such JSON.
std::string DescribePrecision(const nlohmann::json& precision);

/// "bf16: largest error 4.1e-03 of the largest output (tolerance 0.02); 53 of 54 products, in
/// float32: conv1".
std::string Describe(const NetworkPrecision& precision);

}  // namespace bayloom::tuning
