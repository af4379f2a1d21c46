// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/internal/sparsity_option.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>

#include "bayloom/base/result.h"
#include "bayloom/cli/internal/help.h"
#include "bayloom/mapspace/timeloop_yaml.h"

namespace bayloom::cli {
namespace {

constexpr int kMaxWordBits = 4096;

bool IsSameName(const std::string& a, const std::string& b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// "NAME=VALUE" for the tensor of that name of every problem that has it.
void ForTensor(const std::string& text, const char* option,
               std::span<mapspace::Problem* const> problems,
               const std::function<void(mapspace::DataSpace&, const std::string&)>& set) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw InputError(fmt::format("{}: '{}' is not TENSOR=VALUE", option, text));
  }
  const std::string name = text.substr(0, equals);
  bool found = false;
  std::string names;
  for (mapspace::Problem* problem : problems) {
    for (mapspace::DataSpace& tensor : problem->tensors) {
      if (problem == problems.front()) names += (names.empty() ? "" : ", ") + tensor.name;
      if (!IsSameName(tensor.name, name)) continue;
      set(tensor, text.substr(equals + 1));
      found = true;
    }
  }
  if (!found) {
    throw InputError(fmt::format("{}: there is no tensor '{}'; there are {}", option, name, names));
  }
}

int ParseBits(const std::string& text) {
  int bits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  if (is_whole && bits >= 1 && bits <= kMaxWordBits) return bits;
  throw InputError(
      fmt::format("--word-bits: '{}' is no whole number from 1 to {}", text, kMaxWordBits));
}

double ParseOccupancy(const std::string& text) {
  if (text == "max") return 1;
  if (text == "expected") return mapspace::kFitsExpected;
  double probability = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), probability);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (is_number && probability > 0 && probability <= 1) return probability;
  throw InputError("--occupancy: '" + text +
                   "' is neither max, expected nor a probability such as 0.95");
}

}  // namespace

void SparsityOption::AddTo(CLI::App& command) {
  Advanced(
      command
          .add_option("--density", densities_,
                      "Share of a tensor that is not zero: weights=0.3, or weights=2:4 for two "
                      "words of every four")
          ->option_text("TENSOR=D..."));
  Advanced(command
               .add_option("--sparse", sparse_,
                           "What the accelerator does about zeros (Timeloop's "
                           "sparse_optimizations, YAML)")
               ->option_text("FILE"));
  Advanced(
      command
          .add_option("--occupancy", occupancy_,
                      "Capacity that compressed tiles take: max, expected, or what suffices with a "
                      "probability")
          ->option_text("max|expected|P")
          ->default_str("max"));
  Advanced(
      command.add_option("--word-bits", word_bits_, "Width of a tensor's words, e.g. weights=4")
          ->option_text("TENSOR=N..."));
}

void SparsityOption::ApplyTo(mapspace::Architecture& architecture,
                             const yaml::TemplateVariables& variables) const {
  if (!sparse_.empty()) mapspace::AddSparseOptimizations(sparse_, architecture, variables);
  if (!densities_.empty() && !architecture.IsSparse()) {
    throw InputError(
        fmt::format("--density: {} does nothing about zeros; say with --sparse FILE "
                    "what it should do",
                    architecture.name));
  }
  if (!occupancy_) return;
  const double fits = ParseOccupancy(*occupancy_);
  for (mapspace::StorageLevel& level : architecture.levels) level.sparsity.fit_probability = fits;
}

void SparsityOption::ApplyTo(std::span<mapspace::Problem* const> problems) const {
  for (const std::string& text : densities_) {
    ForTensor(text, "--density", problems,
              [](mapspace::DataSpace& tensor, const std::string& value) {
                tensor.density = mapspace::ParseDensity(value);
              });
  }
  for (const std::string& text : word_bits_) {
    ForTensor(text, "--word-bits", problems,
              [](mapspace::DataSpace& tensor, const std::string& value) {
                tensor.word_bits = ParseBits(value);
              });
  }
}

}  // namespace bayloom::cli
