// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/graph/decoder.h"
#include "bayloom/graph/network_plan.h"
#include "bayloom/graph/package.h"
#include "bayloom/graph/package/ir_text.h"

namespace bayloom::graph {

/// What a package has besides where its network is a decoder: steps behind what a model holds.
struct PackagedDecoder {
  std::vector<Decoder> shapes;  ///< parallel to the package's; they differ in lengths only
  std::vector<int64_t> fills;   ///< by input: what a step fills it with (bayloom_decoder.h)
  std::vector<std::pair<int, std::string>>
      held;              ///< inputs that are given once, by number and name
  int64_t capacity = 0;  ///< tokens
};

/// The decoder that all shapes are, with states in the same places; nullopt if they are none.
std::optional<PackagedDecoder> DecoderOf(std::span<const PackageShape> shapes);

/// What tells the runtime: a bayloom_decoder (codegen/runtime/bayloom_decoder.h), as a pointer.
std::string DecoderTable(IrText& ir, const PackagedDecoder& decoder,
                         std::span<const PlannedState> states);

/// The rows of logits that a run leaves, the last of which the runtime may want.
struct LastLogits {
  Storage place;
  Length count;  ///< rows
  int64_t row_bytes = 0;
};
/// Nullopt where the network is no decoder.
std::optional<LastLogits> LastLogitsOf(const Graph& graph, const NetworkPlan& plan);

/// What DecoderDeclarations declares, as LLVM's intermediate representation, and the declarations
/// in C.
std::string DecoderFunctions(const PackagedDecoder& decoder, const std::string& name);
std::string DecoderDeclarations(const PackagedDecoder& decoder, const std::string& name);

}  // namespace bayloom::graph
