// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "bayloom/base/single_line.h"
#include "bayloom/base/spelling.h"
#include "bayloom/search/scenario_readers.h"

namespace bayloom::search {
namespace {

constexpr std::string_view kKinds =
    "real, integer, ordinal, categorical, permutation or "
    "factorization";

space::Scale ReadScale(const yaml::YamlValue& field) {
  const std::optional<yaml::YamlValue> scale = field.Find("scale");
  if (!scale || scale->Text() == "linear") return space::Scale::kLinear;
  if (scale->Text() == "log") return space::Scale::kLog;
  scale->Fail(fmt::format("expected linear or log, found '{}'", base::SingleLine(scale->Text())));
}

/// The two ends of `range`.
std::pair<yaml::YamlValue, yaml::YamlValue> ReadRange(const yaml::YamlValue& field) {
  const yaml::YamlValue range = field.At("range");
  const std::vector<yaml::YamlValue> ends = range.Items();
  if (ends.size() != 2) range.Fail("expected two numbers: [lowest, highest]");
  return {ends[0], ends[1]};
}

bool AllNumbers(const std::vector<yaml::YamlValue>& items) {
  return std::all_of(items.begin(), items.end(), [](const yaml::YamlValue& item) {
    return item.IsScalar() && item.Scalar().is_number();
  });
}

std::vector<std::string> Texts(const std::vector<yaml::YamlValue>& items) {
  std::vector<std::string> texts;
  for (const yaml::YamlValue& item : items) texts.push_back(item.Text());
  return texts;
}

std::vector<double> Numbers(const std::vector<yaml::YamlValue>& items) {
  std::vector<double> numbers;
  for (const yaml::YamlValue& item : items) numbers.push_back(item.Real());
  return numbers;
}

std::unique_ptr<space::Parameter> ReadOrdinal(const std::string& name,
                                              const yaml::YamlValue& field) {
  field.AllowOnly({"type", "values", "scale", "default", "prior", "active_if"});
  const yaml::YamlValue values = field.At("values");
  const std::vector<yaml::YamlValue> items = values.Items();
  const space::Scale scale = ReadScale(field);
  return yaml::WithPlace(values, [&] {
    if (AllNumbers(items)) return space::MakeOrdinal(name, Numbers(items), scale);
    if (field.Find("scale")) field.At("scale").Fail("texts have no scale");
    return space::MakeOrdinal(name, Texts(items));
  });
}

std::unique_ptr<space::Parameter> MakeOfKind(const std::string& name,
                                             const yaml::YamlValue& field) {
  const yaml::YamlValue type = field.At("type");
  const std::string kind = type.Text();
  if (kind == "real") {
    field.AllowOnly({"type", "range", "scale", "default", "prior", "active_if"});
    const auto [low, high] = ReadRange(field);
    return yaml::WithPlace(
        low, [&] { return space::MakeReal(name, low.Real(), high.Real(), ReadScale(field)); });
  }
  if (kind == "integer") {
    field.AllowOnly({"type", "range", "scale", "default", "prior", "active_if"});
    const auto [low, high] = ReadRange(field);
    return yaml::WithPlace(
        low, [&] { return space::MakeInteger(name, low.Int(), high.Int(), ReadScale(field)); });
  }
  if (kind == "ordinal") return ReadOrdinal(name, field);
  if (kind == "categorical") {
    field.AllowOnly({"type", "values", "default", "prior", "active_if"});
    const yaml::YamlValue values = field.At("values");
    return yaml::WithPlace(values,
                           [&] { return space::MakeCategorical(name, Texts(values.Items())); });
  }
  if (kind == "permutation") {
    field.AllowOnly({"type", "size", "metric", "default", "prior", "active_if"});
    const yaml::YamlValue size = field.At("size");
    const space::PermutationMetric metric = ReadMetric(field, "metric");
    return yaml::WithPlace(size, [&] {
      return space::MakePermutation(
          name, static_cast<int>(size.IntWithin(1, space::kMaxPermutationItems)), metric);
    });
  }
  if (kind == "factorization") {
    field.AllowOnly({"type", "extent", "parts", "max_innermost", "default", "prior", "active_if"});
    const yaml::YamlValue extent = field.At("extent");
    const int parts = static_cast<int>(field.At("parts").IntWithin(1, space::kMaxElements));
    const std::optional<yaml::YamlValue> innermost = field.Find("max_innermost");
    return yaml::WithPlace(extent, [&] {
      return space::MakeFactorization(name, extent.Int(), parts,
                                      innermost ? innermost->IntWithin(1, int64_t{1} << 40) : 0);
    });
  }
  const std::string_view meant = base::ClosestMatch(
      kind, {"real", "integer", "ordinal", "categorical", "permutation", "factorization"});
  type.Fail(fmt::format("expected {}, found '{}'{}", kKinds, base::SingleLine(kind),
                        meant.empty() ? "" : fmt::format("; is '{}' meant?", meant)));
}

/// The weights of `prior`, each for the value at its place in `values`. Ordinal numbers are kept
/// sorted, so theirs follow them.
std::vector<double> ReadPrior(const yaml::YamlValue& prior, const space::Parameter& parameter,
                              const yaml::YamlValue& field) {
  std::vector<double> weights = Numbers(prior.Items());
  const std::optional<yaml::YamlValue> values = field.Find("values");
  if (parameter.kind() != space::ParameterKind::kOrdinal || !values ||
      !AllNumbers(values->Items())) {
    return weights;
  }
  const std::vector<double> numbers = Numbers(values->Items());
  if (numbers.size() != weights.size()) prior.Fail("expected as many weights as there are values");
  std::vector<size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return numbers[a] < numbers[b]; });
  std::vector<double> sorted;
  for (const size_t place : order) sorted.push_back(weights[place]);
  return sorted;
}

}  // namespace

space::PermutationMetric ReadMetric(const yaml::YamlValue& field, const char* key) {
  const std::optional<yaml::YamlValue> metric = field.Find(key);
  if (!metric || metric->Text() == "spearman") return space::PermutationMetric::kSpearman;
  if (metric->Text() == "kendall") return space::PermutationMetric::kKendall;
  if (metric->Text() == "hamming") return space::PermutationMetric::kHamming;
  if (metric->Text() == "naive") return space::PermutationMetric::kNaive;
  metric->Fail(fmt::format("expected spearman, kendall, hamming or naive, found '{}'",
                           base::SingleLine(metric->Text())));
}

space::Value ReadValue(const yaml::YamlValue& field) {
  if (field.IsList()) {
    std::vector<int64_t> items;
    for (const yaml::YamlValue& item : field.Items()) items.push_back(item.Int());
    return items;
  }
  const nlohmann::json scalar = field.Scalar();
  if (scalar.is_number_integer()) return scalar.get<int64_t>();
  if (scalar.is_number()) return scalar.get<double>();
  return field.Text();
}

std::unique_ptr<space::Parameter> ReadParameter(const std::string& name,
                                                const yaml::YamlValue& field) {
  if (field.IsList()) return ReadListParameter(name, field);
  std::unique_ptr<space::Parameter> parameter = MakeOfKind(name, field);
  if (const std::optional<yaml::YamlValue> value = field.Find("default")) {
    if (Status set = parameter->SetDefault(ReadValue(*value)); !set) {
      value->Fail(set.error().message);
    }
  }
  if (const std::optional<yaml::YamlValue> prior = field.Find("prior")) {
    if (Status set = parameter->SetPrior(ReadPrior(*prior, *parameter, field)); !set) {
      prior->Fail(set.error().message);
    }
  }
  return parameter;
}

}  // namespace bayloom::search
