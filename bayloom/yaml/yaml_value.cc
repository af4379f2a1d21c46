// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/yaml/yaml_value.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "bayloom/base/byte_size.h"
#include "bayloom/base/duration.h"
#include "bayloom/base/file.h"
#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/base/spelling.h"
#include "bayloom/base/text_limits.h"
#include "bayloom/yaml/document_check.h"
#include "bayloom/yaml/text_source.h"

namespace bayloom::yaml {
namespace {

template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  if (text.size() > 1 && text.front() == '+') text.remove_prefix(1);
  Number number{};
  const char* end = text.data() + text.size();
  const auto [used, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || used != end) return std::nullopt;
  return number;
}

}  // namespace

struct YamlValue::Document {
  TextSource source;
  YAML::Node root;
  std::vector<YamlValue> included = {};
  bool merges = false;     ///< `<<` and `<<<` merge maps
  std::string where = "";  ///< the place of what has none of its own
  Extent extent = {};

  /// A list or map of values of other documents.
  void Include(const YamlValue& value) {
    extent.values += value.document_->extent.values;
    extent.height = std::max(extent.height, value.document_->extent.height + 1);
    included.push_back(value);
  }
  YAML::Node LastIncluded() const {
    YAML::Node node(std::to_string(included.size() - 1));
    node.SetTag(kIncludedTag);
    return node;
  }
};

YamlValue::YamlValue(std::shared_ptr<const Document> document, const YAML::Node& node,
                     std::string path)
    : document_(std::move(document)),
      node_(std::make_shared<const YAML::Node>(node)),
      path_(std::move(path)) {}

YamlValue YamlValue::Child(const YAML::Node& node, std::string path) const {
  const std::vector<YamlValue>& included = document_->included;
  if (!included.empty() && node.IsScalar() && node.Tag() == kIncludedTag) {
    const int64_t index = IncludedIndex(node.Scalar(), included.size());
    if (index >= 0) return included[index];
  }
  return YamlValue(document_, node, std::move(path));
}

YamlValue YamlValue::Entry(const std::string& key, const YAML::Node& node) const {
  return Child(node, (path_.empty() ? "" : path_ + ".") + base::SingleLine(key));
}

YamlValue YamlValue::Make(std::shared_ptr<Document> document, const std::string& text) {
  const std::string& source = document->source.name;
  if (text.size() > base::kMaxTextBytes) {
    throw InputError(fmt::format("cannot use '{}': it is larger than {} MiB", source,
                                 base::kMaxTextBytes >> 20));
  }
  try {
    std::vector<Extent> included;
    for (const YamlValue& value : document->included) {
      included.push_back(value.document_->extent);
    }
    document->extent = CheckDocument(text, document->source, included);
    document->root = YAML::Load(text);
  } catch (const YAML::Exception& error) {
    throw InputError(document->source.Place(error.mark) + base::SingleLine(error.msg));
  }
  return YamlValue(document, document->root, "").Child(document->root, "");
}

YamlValue YamlValue::Parse(const std::string& text, const std::string& source) {
  auto document = std::make_shared<Document>();
  document->source.name = source;
  return Make(std::move(document), text);
}

YamlValue YamlValue::Compose(ComposedText text, const std::string& source) {
  auto document = std::make_shared<Document>();
  document->source = {.name = source, .lines = std::move(text.lines)};
  document->included = std::move(text.included);
  document->merges = true;
  text.text += '\n';  // without it, yaml-cpp refuses some documents that end within brackets
  return Make(std::move(document), text.text);
}

YamlValue YamlValue::ListOf(const std::vector<YamlValue>& items, const std::string& source) {
  auto document = std::make_shared<Document>();
  document->source.name = source;
  document->root = YAML::Node(YAML::NodeType::Sequence);
  for (const YamlValue& item : items) {
    document->Include(item);
    document->root.push_back(document->LastIncluded());
  }
  return YamlValue(document, document->root, "");
}

YamlValue YamlValue::MapOf(const NamedValues& entries, const std::string& where) {
  auto document = std::make_shared<Document>();
  document->where = where;
  document->root = YAML::Node(YAML::NodeType::Map);
  for (const auto& [name, value] : entries) {
    document->Include(value);
    document->root.force_insert(name, document->LastIncluded());
  }
  return YamlValue(document, document->root, "");
}

YamlValue YamlValue::Load(const std::string& path) {
  return Parse(base::ReadFile(path, base::kMaxTextBytes), path);
}

bool YamlValue::IsMap() const { return node_->IsMap(); }
bool YamlValue::IsList() const { return node_->IsSequence(); }
bool YamlValue::IsScalar() const { return node_->IsScalar(); }
bool YamlValue::IsNull() const { return node_->IsNull(); }
bool YamlValue::IsQuoted() const { return node_->IsScalar() && node_->Tag() == "!"; }

std::string YamlValue::Tag() const { return node_->Tag(); }

std::string YamlValue::Where() const {
  return document_->where.empty() ? document_->source.Place(node_->Mark()) : document_->where;
}

void YamlValue::Fail(const std::string& message) const {
  throw PlacedError(Where() + path_ + (path_.empty() ? "" : ": ") +
                    base::MessageInOneLine(message));
}

void YamlValue::Expected(std::string_view what) const {
  if (IsNull()) Fail(fmt::format("expected {}, found nothing", what));
  if (IsMap()) Fail(fmt::format("expected {}, found a map", what));
  if (IsList()) Fail(fmt::format("expected {}, found a list", what));
  Fail(fmt::format("expected {}, found '{}'", what, base::SingleLine(node_->Scalar())));
}

std::optional<YamlValue> YamlValue::Find(std::string_view key) const { return FindAny({key}); }

std::optional<YamlValue> YamlValue::FindAny(std::initializer_list<std::string_view> keys) const {
  const auto entries = Entries();
  for (const std::string_view key : keys) {
    for (const auto& [name, value] : entries) {
      if (name == key && !value.IsNull()) return value;
    }
  }
  return std::nullopt;
}

YamlValue YamlValue::AtAny(std::initializer_list<std::string_view> keys) const {
  if (std::optional<YamlValue> value = FindAny(keys)) return *value;
  Fail(fmt::format("'{}' is missing", *keys.begin()));
}

YamlValue YamlValue::Merged(const std::vector<YamlValue>& values) {
  const YamlValue& first = values.front();
  if (values.size() == 1 || first.Tag() == "!nomerge") return first;
  if (first.IsMap()) {
    std::vector<NamedValues> maps;
    for (const YamlValue& value : values) {
      if (value.IsMap()) maps.push_back(value.Entries());
    }
    return maps.size() == 1 ? first : MapOf(Union(maps, /*is_deep=*/true), first.Where());
  }
  if (first.IsList()) {
    std::vector<YamlValue> items;
    for (const YamlValue& value : values) {
      if (value.IsList()) std::ranges::move(value.Items(), std::back_inserter(items));
    }
    return ListOf(items, first.document_->source.name);
  }
  return first;
}

YamlValue::NamedValues YamlValue::Union(const std::vector<NamedValues>& maps, bool is_deep) {
  std::vector<std::pair<std::string, std::vector<YamlValue>>> all;
  std::unordered_map<std::string, size_t> places;
  for (const NamedValues& map : maps) {
    for (const auto& [name, value] : map) {
      const auto [place, is_new] = places.emplace(name, all.size());
      if (is_new) all.push_back({name, {value}});
      if (!is_new && is_deep) all[place->second].second.push_back(value);
    }
  }
  NamedValues entries;
  for (const auto& [name, values] : all) entries.emplace_back(name, Merged(values));
  return entries;
}

void YamlValue::Merge(NamedValues& entries) {
  const auto is_merge = [](const auto& entry) {
    return entry.first == "<<" || entry.first == "<<<";
  };
  const auto found = std::ranges::find_if(entries, is_merge);
  if (found == entries.end()) return;
  const auto [key, from] = *found;
  entries.erase(found);
  const auto second = std::ranges::find_if(entries, is_merge);
  if (second != entries.end()) second->second.Fail("a map has '<<' or '<<<' once");
  const bool is_deep = key == "<<<";
  std::vector<NamedValues> maps;
  if (!from.IsList()) {
    maps.push_back(from.Entries());
  } else {
    for (const YamlValue& item : from.Items()) maps.push_back(item.Entries());
  }
  entries = Union({std::move(entries), Union(maps, is_deep)}, is_deep);
}

std::vector<std::pair<std::string, YamlValue>> YamlValue::Entries() const {
  if (!IsMap()) Expected("a map");
  NamedValues entries;
  std::set<std::string_view> seen;
  for (const auto& entry : *node_) {
    if (!entry.first.IsScalar()) Child(entry.first, path_).Fail("expected a name as key");
    const std::string& key = entry.first.Scalar();
    const YamlValue value = Entry(key, entry.second);
    if (!seen.insert(key).second) value.Fail("is given twice");
    entries.emplace_back(key, value);
  }
  if (document_->merges) Merge(entries);
  return entries;
}

std::vector<YamlValue> YamlValue::Items() const {
  if (!IsList()) Expected("a list");
  std::vector<YamlValue> items;
  for (const YAML::Node& item : *node_) {
    items.push_back(Child(item, fmt::format("{}[{}]", path_, items.size())));
  }
  return items;
}

void YamlValue::AllowOnly(std::initializer_list<std::string_view> keys) const {
  const std::vector<std::string_view> known(keys);
  RefuseMisspelt(known);
  for (const auto& [name, value] : Entries()) {
    if (std::ranges::find(known, name) != known.end()) continue;
    value.Fail(fmt::format("is not known here; known are {}", fmt::join(known, ", ")));
  }
}

void YamlValue::RefuseMisspelt(const std::vector<std::string_view>& keys) const {
  for (const auto& [name, value] : Entries()) {
    if (std::ranges::find(keys, name) != keys.end()) continue;
    const std::string_view meant = base::ClosestMatch(name, keys);
    if (!meant.empty()) value.Fail(fmt::format("is not known here; is '{}' meant?", meant));
  }
}

std::string YamlValue::Text() const {
  if (!IsScalar()) Expected("a text");
  return node_->Scalar();
}

std::string YamlValue::Name() const {
  std::string name = Text();
  if (name.empty()) Fail("expected a name, found an empty text");
  if (name.size() > base::kMaxNameBytes) {
    Fail(fmt::format("a name has at most {} bytes, not {}", base::kMaxNameBytes, name.size()));
  }
  if (base::SingleLine(name, name.size()) != name) {
    Fail(fmt::format("the name '{}' has control characters", base::SingleLine(name)));
  }
  return name;
}

std::vector<std::string> YamlValue::Names() const {
  if (IsScalar()) return {Name()};
  if (!IsList()) Expected("a name or a list of names");
  std::vector<std::string> names;
  for (const YamlValue& item : Items()) names.push_back(item.Name());
  return names;
}

std::vector<std::string> YamlValue::Texts() const {
  if (IsScalar()) return {Text()};
  if (!IsList()) Expected("a text or a list of texts");
  std::vector<std::string> texts;
  for (const YamlValue& item : Items()) texts.push_back(item.Text());
  return texts;
}

double YamlValue::Real() const {
  const std::optional<double> number =
      IsScalar() && !IsQuoted() ? ParseNumber<double>(node_->Scalar()) : std::nullopt;
  if (!number || !std::isfinite(*number)) Expected("a number");
  return *number;
}

double YamlValue::RealWithin(double low, double high) const {
  const double number = Real();
  if (number < low || number > high) Expected(fmt::format("a number from {} to {}", low, high));
  return number;
}

int64_t YamlValue::Int() const {
  constexpr double kExact = 9007199254740992;  // 2^53
  if (IsScalar() && !IsQuoted()) {
    if (const auto whole = ParseNumber<int64_t>(node_->Scalar())) return *whole;
    const auto real = ParseNumber<double>(node_->Scalar());
    if (real && std::abs(*real) <= kExact && *real == std::trunc(*real)) {
      return static_cast<int64_t>(*real);
    }
  }
  Expected("a whole number");
}

int64_t YamlValue::IntAtLeast(int64_t low) const {
  const int64_t number = Int();
  if (number < low) Expected(fmt::format("a whole number of at least {}", low));
  return number;
}

int64_t YamlValue::IntWithin(int64_t low, int64_t high) const {
  const int64_t number = Int();
  if (number < low || number > high) {
    Expected(fmt::format("a whole number from {} to {}", low, high));
  }
  return number;
}

bool YamlValue::Bool() const {
  bool value = false;
  // What YAML 1.1 calls a boolean; only where one is expected are "yes" and "no" no texts.
  if (!IsScalar() || IsQuoted() || !YAML::convert<bool>::decode(*node_, value)) {
    Expected("true or false");
  }
  return value;
}

double YamlValue::Duration() const {
  const Result<double> seconds = base::ParseDuration(Text());
  if (!seconds) Expected("a duration like 30, 500ms, 90s, 10m or 1h30m");
  if (!(*seconds > 0)) Expected("a duration above zero");
  return *seconds;
}

int64_t YamlValue::Bytes() const {
  const Result<int64_t> bytes = base::ParseByteSize(Text());
  if (!bytes) Expected("a size like 65536, 512MiB or 4GiB");
  return *bytes;
}

nlohmann::json YamlValue::Scalar() const {
  const std::string text = Text();
  if (IsQuoted()) return text;
  if (text == "true" || text == "True") return true;
  if (text == "false" || text == "False") return false;
  if (const auto whole = ParseNumber<int64_t>(text)) return *whole;
  if (const auto real = ParseNumber<double>(text); real && std::isfinite(*real)) return *real;
  return text;
}

}  // namespace bayloom::yaml
