// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/yaml/yaml_value.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string_view>

#include "bayloom/base/duration.h"
#include "bayloom/base/file.h"
#include "bayloom/base/one_line.h"
#include "bayloom/base/result.h"
#include "bayloom/base/spelling.h"

namespace bayloom::yaml {
namespace {

constexpr size_t kMaxFileBytes = size_t{64} << 20;
/// Aliases can make a document contain itself.
constexpr int kMaxDepth = 100;

template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  if (text.size() > 1 && text.front() == '+') text.remove_prefix(1);
  Number number{};
  const char* end = text.data() + text.size();
  const auto [used, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || used != end) return std::nullopt;
  return number;
}

std::string Place(const std::string& source, const YAML::Mark& mark) {
  if (mark.is_null()) return source + ": ";
  return fmt::format("{}:{}:{}: ", source, mark.line + 1, mark.column + 1);
}

/// Passes over whatever a document holds.
class IgnoreEvents final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

/// 0, 1, or 2 for more. (YAML::LoadAll never ends where a stray bracket follows a document.)
int CountDocuments(const std::string& text) {
  std::istringstream in(text);
  YAML::Parser parser(in);
  IgnoreEvents ignore;
  int documents = 0;
  while (documents < 2 && parser.HandleNextDocument(ignore)) ++documents;
  return documents;
}

}  // namespace

struct YamlValue::Document {
  std::string source;
  YAML::Node root;
};

YamlValue::YamlValue(std::shared_ptr<const Document> document, const YAML::Node& node,
                     std::string path, int depth)
    : document_(std::move(document)),
      node_(std::make_shared<const YAML::Node>(node)),
      path_(std::move(path)),
      depth_(depth) {}

YamlValue YamlValue::Child(const YAML::Node& node, std::string path) const {
  if (depth_ >= kMaxDepth) {
    throw InputError(fmt::format("{}nested more than {} deep", Where(), kMaxDepth));
  }
  return YamlValue(document_, node, std::move(path), depth_ + 1);
}

YamlValue YamlValue::Entry(const std::string& key, const YAML::Node& node) const {
  return Child(node, (path_.empty() ? "" : path_ + ".") + base::InOneLine(key));
}

YamlValue YamlValue::Parse(const std::string& text, const std::string& source) {
  if (text.size() > kMaxFileBytes) {
    throw InputError(
        fmt::format("cannot use '{}': it is larger than {} MiB", source, kMaxFileBytes >> 20));
  }
  auto document = std::make_shared<Document>();
  document->source = source;
  try {
    document->root = YAML::Load(text);
    const int documents = CountDocuments(text);
    if (documents == 0) throw InputError(fmt::format("cannot use '{}': it is empty", source));
    if (documents > 1) {
      throw InputError(fmt::format("cannot use '{}': something follows after its end", source));
    }
  } catch (const YAML::Exception& error) {
    throw InputError(Place(source, error.mark) + base::InOneLine(error.msg));
  }
  return YamlValue(document, document->root, "", 0);
}

YamlValue YamlValue::Load(const std::string& path) {
  return Parse(base::ReadFile(path, kMaxFileBytes), path);
}

bool YamlValue::IsMap() const { return node_->IsMap(); }
bool YamlValue::IsList() const { return node_->IsSequence(); }
bool YamlValue::IsScalar() const { return node_->IsScalar(); }
bool YamlValue::IsNull() const { return node_->IsNull(); }
bool YamlValue::IsQuoted() const { return node_->IsScalar() && node_->Tag() == "!"; }

std::string YamlValue::Where() const { return Place(document_->source, node_->Mark()); }

void YamlValue::Fail(const std::string& message) const {
  throw InputError(Where() + path_ + (path_.empty() ? "" : ": ") + message);
}

void YamlValue::Expected(std::string_view what) const {
  if (IsNull()) Fail(fmt::format("expected {}, found nothing", what));
  if (IsMap()) Fail(fmt::format("expected {}, found a map", what));
  if (IsList()) Fail(fmt::format("expected {}, found a list", what));
  Fail(fmt::format("expected {}, found '{}'", what, base::InOneLine(node_->Scalar())));
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

std::vector<std::pair<std::string, YamlValue>> YamlValue::Entries() const {
  if (!IsMap()) Expected("a map");
  std::vector<std::pair<std::string, YamlValue>> entries;
  std::set<std::string_view> seen;
  for (const auto& entry : *node_) {
    if (!entry.first.IsScalar()) Child(entry.first, path_).Fail("expected a name as key");
    const std::string& key = entry.first.Scalar();
    const YamlValue value = Entry(key, entry.second);
    if (!seen.insert(key).second) value.Fail("is given twice");
    entries.emplace_back(key, value);
  }
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
    const std::string_view meant = base::Nearest(name, keys);
    if (!meant.empty()) value.Fail(fmt::format("is not known here; is '{}' meant?", meant));
  }
}

std::string YamlValue::Text() const {
  if (!IsScalar()) Expected("a text");
  return node_->Scalar();
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
  const std::string text = Text();
  const size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view unit = std::string_view(text).substr(digits);
  const auto number = ParseNumber<double>(std::string_view(text).substr(0, digits));
  constexpr std::string_view kUnits[] = {"", "KiB", "MiB", "GiB", "TiB"};
  const auto found = std::ranges::find(kUnits, unit);
  double bytes = 0;
  if (number && found != std::end(kUnits)) {
    bytes = std::ldexp(*number, static_cast<int>(10 * (found - std::begin(kUnits))));
  }
  if (!(bytes >= 1) || bytes > 1e18) Expected("a size like 65536, 512MiB or 4GiB");
  return static_cast<int64_t>(bytes);
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
