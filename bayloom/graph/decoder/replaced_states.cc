// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/decoder/replaced_states.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace bayloom::graph {
namespace {

constexpr std::array<std::string_view, 17> kSides = {
    "past", "present",  "in",  "out",  "input",   "output", "new",     "next",   "prev",
    "init", "previous", "old", "last", "current", "cache",  "initial", "updated"};
/// Its words are no part of the state's name, unlike those of "present.0.key".
constexpr std::string_view kPastOfAll = "past_key_values";

bool IsSide(const std::string& word) {
  return std::ranges::count(kSides, std::string_view(word)) > 0;
}

bool HaveOneType(const Graph& graph, ValueId a, ValueId b) {
  const Value &x = graph.values[a], &y = graph.values[b];
  return x.dtype == y.dtype && x.shape == y.shape && !IsOpen(x) && !IsOpen(y);
}

}  // namespace

std::string StateName(std::string_view name) {
  if (name.starts_with(kPastOfAll)) name.remove_prefix(kPastOfAll.size());
  std::vector<std::string> words;
  int last_class = 0;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const int own_class = std::isalpha(byte) != 0 ? 1 : std::isdigit(byte) != 0 ? 2 : 0;
    if (own_class != 0 && own_class != last_class) words.emplace_back();
    if (own_class != 0) words.back() += static_cast<char>(std::tolower(byte));
    last_class = own_class;
  }
  std::erase_if(words, IsSide);
  std::ranges::sort(words);
  std::string joined;
  for (const std::string& word : words) joined += (joined.empty() ? "" : ".") + word;
  return joined;
}

std::map<ValueId, int> FindReplaced(const Graph& graph, const std::vector<ValueId>& inputs,
                                    const std::vector<int>& outputs) {
  std::map<ValueId, int> next;
  const auto is_taken = [&](int output) {
    return std::ranges::any_of(next, [&](const auto& pair) { return pair.second == output; });
  };
  const auto type_fits = [&](ValueId input, int output) {
    return HaveOneType(graph, input, graph.outputs[static_cast<size_t>(output)].value);
  };
  for (const ValueId input : inputs) {
    const std::string name = StateName(graph.values[input].name);
    for (const int output : outputs) {
      const bool is_same = StateName(graph.outputs[static_cast<size_t>(output)].name) == name;
      if (!is_same || !type_fits(input, output) || is_taken(output)) continue;
      next[input] = output;
      break;
    }
  }
  std::map<ValueId, int> in_order = next;
  auto input = inputs.begin();
  for (const int output : outputs) {
    if (is_taken(output)) continue;
    const auto fits = [&](ValueId candidate) {
      return !next.contains(candidate) && type_fits(candidate, output);
    };
    input = std::find_if(input, inputs.end(), fits);
    if (input == inputs.end()) return next;
    in_order[*input++] = output;
  }
  return in_order;
}

}  // namespace bayloom::graph
