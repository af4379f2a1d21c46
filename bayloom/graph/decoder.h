// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/graph/graph.h"

namespace bayloom::graph {

/// What an input of a decoder is in a step. Most follow from the tokens and their places.
enum class DecoderInput : uint8_t {
  kTokens,     ///< the tokens themselves
  kPositions,  ///< where they are among all tokens
  kFirst,      ///< one number: where the first of them is,
  kLast,       ///< the last one,
  kTotal,      ///< how many tokens there are with them
  kMask,       ///< 1 for each token seen: all of them
  kPast,       ///< the past of a state that grows
  kReplaced,   ///< a state that each step replaces by an output of the same shape
  kHeld,       ///< the same in all steps, given once: what an encoder has computed
};
/// "tokens"
std::string ToString(DecoderInput input);

/// A network that is the decoder of a language model: behind a past, which it keeps in states, it
/// takes some tokens and gives logits for the words that may follow them.
struct Decoder {
  std::vector<DecoderInput> inputs;  ///< parallel to the graph's
  /// By input: position in Graph::outputs of what replaces it; -1 for those that are not kReplaced.
  std::vector<int> next;
  int past = -1;            ///< the symbol that is the length of the past; -1: no state grows
  int tokens = -1;          ///< that of the number of tokens; -1: it is fixed,
  int64_t token_count = 1;  ///< to this
  int logits = 0;           ///< position in Graph::outputs
  int64_t words = 0;
  int64_t window = 0;       ///< tokens that one of them sees with itself; 0: all, or past is short
  bool gives_last = false;  ///< logits behind the last token only, not behind each one

  bool Has(DecoderInput input) const;
  /// The fewest tokens that a step takes.
  int64_t Fewest(const Graph& graph) const;
  /// The most tokens that can be held when steps are as short as they may be; the largest int64 if
  /// there is no limit.
  int64_t Capacity(const Graph& graph) const;
  /// Lengths of the symbols in a step of so many tokens behind others, those of held inputs as
  /// large as they may be; nullopt: it cannot be taken.
  std::optional<std::vector<int64_t>> LengthsOf(const Graph& graph, int64_t past,
                                                int64_t count) const;
  /// What a step of `count` tokens reads of states that hold `past` tokens, and adds to them.
  static int64_t StateBytes(const Graph& graph, int64_t past, int64_t count = 1);
  /// Bytes of the inputs of a kind at their largest: of what a step replaces, of what is held.
  int64_t InputBytes(const Graph& graph, DecoderInput kind) const;
  /// What a step with these lengths reads of constants: of those that are read at computed places,
  /// as tables of words and experts are, at most so much as there are places.
  static int64_t ConstantBytes(const Graph& graph, std::span<const int64_t> lengths);
};

/// The decoder that an optimized graph is (JoinStates); the error says why it is none.
Result<Decoder> AsDecoder(const Graph& graph);

}  // namespace bayloom::graph
