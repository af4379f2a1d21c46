// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/graph/decoder.h"
#include "bayloom/graph/network_plan.h"
#include "bayloom/graph/package.h"

namespace bayloom::graph {

/// What a package has besides where its network is a decoder: steps behind what a model holds.
struct PackagedDecoder {
  std::vector<Decoder> shapes;  ///< parallel to the package's; they differ in lengths only
  std::vector<bool> is_float;   ///< by input
  int64_t capacity = 0;         ///< tokens
};

/// The decoder that all shapes are, with states in the same places; nullopt if they are none.
std::optional<PackagedDecoder> DecoderOf(std::span<const PackageShape> shapes);

/// Tables that tell the runtime, ending with kDecoder (codegen/runtime/bayloom_decoder.h).
std::string DecoderTables(const PackagedDecoder& decoder, std::span<const PlannedState> states);
/// At the end of a run: the last row of logits goes where the runtime wants it. Empty where the
/// network is no decoder. `address`: of a place, as an expression of C.
std::string LastLogits(const Graph& graph, const NetworkPlan& plan,
                       const std::function<std::string(const Storage&)>& address);
/// The functions that are declared by DecoderDeclarations, and these.
std::string DecoderFunctions(const std::string& name);
std::string DecoderDeclarations(const PackagedDecoder& decoder, const std::string& name);

}  // namespace bayloom::graph
