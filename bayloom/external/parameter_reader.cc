#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "bayloom/base/spelling.h"
#include "bayloom/external/scenario_readers.h"

namespace bayloom {
namespace {

constexpr std::string_view kKinds =
    "real, integer, ordinal, categorical, permutation or "
    "factorization";

Scale ReadScale(const Field& field) {
  const std::optional<Field> scale = field.Find("scale");
  if (!scale || scale->Text() == "linear") return Scale::kLinear;
  if (scale->Text() == "log") return Scale::kLog;
  scale->Fail(fmt::format("expected linear or log, found '{}'", InOneLine(scale->Text())));
}

PermutationMetric ReadMetric(const Field& field) {
  const std::optional<Field> metric = field.Find("metric");
  if (!metric || metric->Text() == "spearman") return PermutationMetric::kSpearman;
  if (metric->Text() == "kendall") return PermutationMetric::kKendall;
  if (metric->Text() == "hamming") return PermutationMetric::kHamming;
  if (metric->Text() == "naive") return PermutationMetric::kNaive;
  metric->Fail(fmt::format("expected spearman, kendall, hamming or naive, found '{}'",
                           InOneLine(metric->Text())));
}

/// The two ends of `range`.
std::pair<Field, Field> ReadRange(const Field& field) {
  const Field range = field.At("range");
  const std::vector<Field> ends = range.Items();
  if (ends.size() != 2) range.Fail("expected two numbers: [lowest, highest]");
  return {ends[0], ends[1]};
}

bool AllNumbers(const std::vector<Field>& items) {
  return std::all_of(items.begin(), items.end(), [](const Field& item) {
    return item.IsScalar() && item.Scalar().is_number();
  });
}

std::vector<std::string> Texts(const std::vector<Field>& items) {
  std::vector<std::string> texts;
  for (const Field& item : items) texts.push_back(item.Text());
  return texts;
}

std::vector<double> Numbers(const std::vector<Field>& items) {
  std::vector<double> numbers;
  for (const Field& item : items) numbers.push_back(item.Real());
  return numbers;
}

std::unique_ptr<Parameter> ReadOrdinal(const std::string& name, const Field& field) {
  field.AllowOnly({"type", "values", "scale", "default", "prior"});
  const Field values = field.At("values");
  const std::vector<Field> items = values.Items();
  const Scale scale = ReadScale(field);
  return BlamedOn(values, [&] {
    if (AllNumbers(items)) return MakeOrdinal(name, Numbers(items), scale);
    if (field.Find("scale")) field.At("scale").Fail("texts have no scale");
    return MakeOrdinal(name, Texts(items));
  });
}

std::unique_ptr<Parameter> MakeOfKind(const std::string& name, const Field& field) {
  const Field type = field.At("type");
  const std::string kind = type.Text();
  if (kind == "real") {
    field.AllowOnly({"type", "range", "scale", "default", "prior"});
    const auto [low, high] = ReadRange(field);
    return BlamedOn(low, [&] { return MakeReal(name, low.Real(), high.Real(), ReadScale(field)); });
  }
  if (kind == "integer") {
    field.AllowOnly({"type", "range", "scale", "default", "prior"});
    const auto [low, high] = ReadRange(field);
    return BlamedOn(low,
                    [&] { return MakeInteger(name, low.Int(), high.Int(), ReadScale(field)); });
  }
  if (kind == "ordinal") return ReadOrdinal(name, field);
  if (kind == "categorical") {
    field.AllowOnly({"type", "values", "default", "prior"});
    const Field values = field.At("values");
    return BlamedOn(values, [&] { return MakeCategorical(name, Texts(values.Items())); });
  }
  if (kind == "permutation") {
    field.AllowOnly({"type", "size", "metric", "default", "prior"});
    const Field size = field.At("size");
    const PermutationMetric metric = ReadMetric(field);
    return BlamedOn(size, [&] {
      return MakePermutation(name, static_cast<int>(size.IntWithin(1, 1000)), metric);
    });
  }
  if (kind == "factorization") {
    field.AllowOnly({"type", "extent", "parts", "max_innermost", "default", "prior"});
    const Field extent = field.At("extent");
    const int parts = static_cast<int>(field.At("parts").IntWithin(1, 1000));
    const std::optional<Field> innermost = field.Find("max_innermost");
    return BlamedOn(extent, [&] {
      return MakeFactorization(name, extent.Int(), parts, innermost ? innermost->Int() : 0);
    });
  }
  const std::string_view meant =
      Nearest(kind, {"real", "integer", "ordinal", "categorical", "permutation", "factorization"});
  type.Fail(fmt::format("expected {}, found '{}'{}", kKinds, InOneLine(kind),
                        meant.empty() ? "" : fmt::format("; is '{}' meant?", meant)));
}

/// The weights of `prior`, each for the value at its place in `values`. Ordinal numbers are kept
/// sorted, so theirs follow them.
std::vector<double> ReadPrior(const Field& prior, const Parameter& parameter, const Field& field) {
  std::vector<double> weights = Numbers(prior.Items());
  const std::optional<Field> values = field.Find("values");
  if (parameter.kind() != ParameterKind::kOrdinal || !values || !AllNumbers(values->Items())) {
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

Value ReadValue(const Field& field) {
  if (field.IsList()) {
    std::vector<int64_t> items;
    for (const Field& item : field.Items()) items.push_back(item.Int());
    return items;
  }
  const nlohmann::json scalar = field.Scalar();
  if (scalar.is_number_integer()) return scalar.get<int64_t>();
  if (scalar.is_number()) return scalar.get<double>();
  return field.Text();
}

std::unique_ptr<Parameter> ReadParameter(const std::string& name, const Field& field) {
  std::unique_ptr<Parameter> parameter = MakeOfKind(name, field);
  if (const std::optional<Field> value = field.Find("default")) {
    if (Status set = parameter->SetDefault(ReadValue(*value)); !set) {
      value->Fail(set.error().message);
    }
  }
  if (const std::optional<Field> prior = field.Find("prior")) {
    if (Status set = parameter->SetPrior(ReadPrior(*prior, *parameter, field)); !set) {
      prior->Fail(set.error().message);
    }
  }
  return parameter;
}

}  // namespace bayloom
