// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/options/sparsity_option.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>
#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/cli/help.h"
#include "bayloom/mapspace/sparse/density_model.h"
#include "bayloom/mapspace/timeloop_yaml.h"

namespace bayloom::cli {
namespace {

constexpr int kMaxWordBits = 4096;

bool IsSameName(const std::string& a, const std::string& b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// "NAME=VALUE".
std::pair<std::string, std::string> Split(const std::string& text, const char* option) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw InputError(fmt::format("{}: '{}' is not TENSOR=VALUE", option, text));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

using SetValue = std::function<void(mapspace::DataSpace&)>;

/// Sets the tensor of that name of every problem that has it; whether there is one.
bool SetTensors(const std::string& name, std::span<mapspace::Problem* const> problems,
                const SetValue& set) {
  bool found = false;
  for (mapspace::Problem* problem : problems) {
    for (mapspace::DataSpace& tensor : problem->tensors) {
      if (!IsSameName(tensor.name, name)) continue;
      set(tensor);
      found = true;
    }
  }
  return found;
}

std::string NamesOf(const mapspace::Problem& problem) {
  std::vector<std::string> names;
  for (const mapspace::DataSpace& tensor : problem.tensors) names.push_back(tensor.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Values of a network's tensors: of those that a product writes, and of those that one reads. Of
/// several tensors read as one all need a value, of which `merge` makes one.
template <typename Value>
class NetworkValues {
 public:
  explicit NetworkValues(const mapspace::FusedNetwork& network) : values_(network.tensors.size()) {}

  /// Of the tensor of this name, or the result of the operator of this name; whether there is one.
  bool Set(const mapspace::FusedNetwork& network, const std::string& name, const Value& value) {
    bool found = false;
    for (size_t t = 0; t < network.tensors.size(); ++t) {
      const mapspace::FusedTensor& tensor = network.tensors[t];
      const bool is_result =
          tensor.producer >= 0 && network.operators[tensor.producer].name == name;
      if (tensor.name != name && !is_result) continue;
      values_[t] = value;
      found = true;
    }
    return found;
  }

  void ApplyTo(mapspace::FusedNetwork& network, Value mapspace::DataSpace::*member,
               const std::function<bool(const Value&, const Value&)>& less) const {
    for (mapspace::FusedOperator& op : network.operators) {
      if (!op.product) continue;
      const auto set = [&](std::string_view name, const std::optional<Value>& value) {
        const int tensor = op.product->problem.TensorNamed(name);
        if (tensor >= 0 && value) op.product->problem.tensors[tensor].*member = *value;
      };
      set("Outputs", values_[op.output]);
      std::optional<Value> inputs;
      bool has_all = true;
      for (int i = 0; i < std::ssize(op.operands); ++i) {
        const std::optional<Value>& value = values_[op.operands[i].tensor];
        if (i == op.product->weights_operand) {
          set("Weights", value);
          continue;
        }
        has_all &= value.has_value();
        if (value && (!inputs || less(*inputs, *value))) inputs = value;
      }
      if (has_all) set("Inputs", inputs);
    }
  }

 private:
  std::vector<std::optional<Value>> values_;
};

/// Gives the tensors of all problems, or those of the network by their own names, the values of an
/// option; those by their own names last.
template <typename Value>
void SetInNetwork(const std::vector<std::string>& texts, const char* option,
                  mapspace::FusedNetwork& network, Value (*parse)(const std::string&),
                  Value mapspace::DataSpace::*member,
                  const std::function<bool(const Value&, const Value&)>& less) {
  std::vector<mapspace::Problem*> problems;
  for (mapspace::FusedOperator& op : network.operators) {
    if (op.product) problems.push_back(&op.product->problem);
  }
  NetworkValues<Value> by_name(network);
  for (const std::string& text : texts) {
    const auto [name, value] = Split(text, option);
    const Value parsed = parse(value);
    const bool found =
        SetTensors(name, problems, [&](mapspace::DataSpace& tensor) { tensor.*member = parsed; }) ||
        by_name.Set(network, name, parsed);
    if (!found) {
      throw InputError(fmt::format(
          "{}: there is no tensor '{}'; there are {}, and results of operators such as {}", option,
          name, problems.empty() ? "none" : NamesOf(*problems.front()),
          network.operators.front().name));
    }
  }
  by_name.ApplyTo(network, member, less);
}

mapspace::Density ParseDensity(const std::string& text) { return mapspace::ParseDensity(text); }

/// Of the tensors of several layers.
mapspace::Density ParseLayerDensity(const std::string& text) {
  mapspace::Density density = mapspace::ParseDensity(text);
  if (!density.HasPlaces()) return density;
  throw InputError(fmt::format(
      "--density: '{}' says where the nonzeros of one tensor are, not of those of a network",
      text));
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
                      "What of a tensor is not zero: weights=0.3, weights=2:4 for two words of "
                      "every four, weights=banded:2, or weights=file:mask.npy")
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

void SparsityOption::SetAll(std::span<mapspace::Problem* const> problems,
                            mapspace::Density (*parse_density)(const std::string&)) const {
  const auto set = [&](const std::string& text, const char* option, auto parse, auto member) {
    const auto [name, value] = Split(text, option);
    const auto parsed = parse(value);
    if (SetTensors(name, problems, [&](mapspace::DataSpace& tensor) { tensor.*member = parsed; })) {
      return;
    }
    throw InputError(fmt::format("{}: there is no tensor '{}'; there are {}", option, name,
                                 problems.empty() ? "none" : NamesOf(*problems.front())));
  };
  for (const std::string& text : densities_) {
    set(text, "--density", parse_density, &mapspace::DataSpace::density);
  }
  for (const std::string& text : word_bits_) {
    set(text, "--word-bits", ParseBits, &mapspace::DataSpace::word_bits);
  }
}

void SparsityOption::ApplyTo(mapspace::Problem& problem) const {
  mapspace::Problem* const all[] = {&problem};
  SetAll(all, ParseDensity);
  mapspace::ReadRecordedNonzeros(problem);
}

void SparsityOption::ApplyTo(std::span<mapspace::Problem* const> layers) const {
  SetAll(layers, ParseLayerDensity);
}

void SparsityOption::ApplyTo(mapspace::FusedNetwork& network) const {
  const auto sparser = [](const mapspace::Density& a, const mapspace::Density& b) {
    return a.fraction < b.fraction;
  };
  SetInNetwork<mapspace::Density>(densities_, "--density", network, ParseLayerDensity,
                                  &mapspace::DataSpace::density, sparser);
  SetInNetwork<int>(word_bits_, "--word-bits", network, ParseBits, &mapspace::DataSpace::word_bits,
                    std::less<>());
}

}  // namespace bayloom::cli
