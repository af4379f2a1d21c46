#include "bayloom/external/field.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "bayloom/base/result.h"
#include "bayloom/base/spelling.h"

namespace bayloom {
namespace {

constexpr size_t kLargestFile = size_t{64} << 20;

template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  if (text.size() > 1 && text.front() == '+') text.remove_prefix(1);
  Number number{};
  const char* end = text.data() + text.size();
  const auto [used, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || used != end) return std::nullopt;
  return number;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file && file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  if (file.bad() || !file.is_open() || (file.fail() && !file.eof())) {
    throw InputError(fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
  }
  return std::move(text).str();
}

/// Bytes of the UTF-8 character that non-empty `text` begins with; 0 where it is none.
size_t CharacterLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool no_character = (first == 0xed && byte(1) > 0x9f) || (first == 0xf4 && byte(1) > 0x8f);
  return overlong || no_character ? 0 : length;
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

/// The number before a unit and the unit: "1.5h" is (1.5, "h").
std::optional<std::pair<double, std::string_view>> TakeQuantity(std::string_view& text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::optional<double> number = ParseNumber<double>(text.substr(0, digits));
  if (!number) return std::nullopt;
  text.remove_prefix(digits);
  const size_t letters = std::min(text.find_first_of("0123456789."), text.size());
  const std::string_view unit = text.substr(0, letters);
  text.remove_prefix(letters);
  return std::pair(*number, unit);
}

std::optional<double> SecondsOf(std::string_view unit) {
  if (unit == "ms") return 1e-3;
  if (unit == "s") return 1;
  if (unit == "m" || unit == "min") return 60;
  if (unit == "h") return 3600;
  return std::nullopt;
}

}  // namespace

struct Field::Document {
  std::string source;
  YAML::Node root;
};

Field::Field(std::shared_ptr<const Document> document, const YAML::Node& node, std::string path)
    : document_(std::move(document)),
      node_(std::make_shared<const YAML::Node>(node)),
      path_(std::move(path)) {}

Field Field::Parse(const std::string& text, const std::string& source) {
  if (text.size() > kLargestFile) {
    throw InputError(fmt::format("cannot use '{}': it is larger than 64 MiB", source));
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
    throw InputError(fmt::format("{}:{}:{}: {}", source, error.mark.line + 1, error.mark.column + 1,
                                 InOneLine(error.msg)));
  }
  return Field(document, document->root, "");
}

Field Field::Load(const std::string& path) { return Parse(ReadFile(path), path); }

bool Field::IsMap() const { return node_->IsMap(); }
bool Field::IsList() const { return node_->IsSequence(); }
bool Field::IsScalar() const { return node_->IsScalar(); }
bool Field::IsNull() const { return node_->IsNull(); }
bool Field::IsQuoted() const { return node_->IsScalar() && node_->Tag() == "!"; }

void Field::Fail(const std::string& message) const {
  const YAML::Mark mark = node_->Mark();
  throw InputError(fmt::format("{}:{}:{}: {}{}{}", document_->source, mark.line + 1,
                               mark.column + 1, path_, path_.empty() ? "" : ": ", message));
}

void Field::Expected(std::string_view what) const {
  if (IsNull()) Fail(fmt::format("expected {}, found nothing", what));
  if (IsMap()) Fail(fmt::format("expected {}, found a map", what));
  if (IsList()) Fail(fmt::format("expected {}, found a list", what));
  Fail(fmt::format("expected {}, found '{}'", what, InOneLine(node_->Scalar())));
}

std::optional<Field> Field::Find(std::string_view key) const {
  for (auto& [name, value] : Entries()) {
    if (name == key) return value.IsNull() ? std::nullopt : std::optional<Field>(value);
  }
  return std::nullopt;
}

Field Field::At(std::string_view key) const {
  if (std::optional<Field> field = Find(key)) return *field;
  Fail(fmt::format("'{}' is missing", key));
}

std::vector<std::pair<std::string, Field>> Field::Entries() const {
  if (!IsMap()) Expected("a map");
  std::vector<std::pair<std::string, Field>> entries;
  std::set<std::string_view> seen;
  for (const auto& entry : *node_) {
    const std::string prefix = path_.empty() ? "" : path_ + ".";
    if (!entry.first.IsScalar()) {
      Field(document_, entry.first, path_).Fail("expected a name as key");
    }
    const std::string& key = entry.first.Scalar();
    const Field value(document_, entry.second, prefix + InOneLine(key));
    if (!seen.insert(key).second) value.Fail("is given twice");
    entries.emplace_back(key, value);
  }
  return entries;
}

std::vector<Field> Field::Items() const {
  if (!IsList()) Expected("a list");
  std::vector<Field> items;
  for (const YAML::Node& item : *node_) {
    items.push_back(Field(document_, item, fmt::format("{}[{}]", path_, items.size())));
  }
  return items;
}

void Field::AllowOnly(std::initializer_list<std::string_view> keys) const {
  for (const auto& [name, value] : Entries()) {
    if (std::find(keys.begin(), keys.end(), name) != keys.end()) continue;
    const std::vector<std::string_view> known(keys);
    const std::string_view meant = Nearest(name, known);
    if (!meant.empty()) value.Fail(fmt::format("is not known here; is '{}' meant?", meant));
    value.Fail(fmt::format("is not known here; known are {}", fmt::join(known, ", ")));
  }
}

std::string Field::Text() const {
  if (!IsScalar()) Expected("a text");
  return node_->Scalar();
}

double Field::Real() const {
  const std::optional<double> number =
      IsScalar() && !IsQuoted() ? ParseNumber<double>(node_->Scalar()) : std::nullopt;
  if (!number || !std::isfinite(*number)) Expected("a number");
  return *number;
}

int64_t Field::Int() const {
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

int64_t Field::IntWithin(int64_t low, int64_t high) const {
  const int64_t number = Int();
  if (number < low || number > high) {
    Expected(fmt::format("a whole number from {} to {}", low, high));
  }
  return number;
}

bool Field::Bool() const {
  const nlohmann::json value = Scalar();
  if (!value.is_boolean()) Expected("true or false");
  return value.get<bool>();
}

double Field::Duration() const {
  const std::string whole = Text();
  std::string_view text = whole;
  double seconds = 0;
  if (const auto number = ParseNumber<double>(text)) {
    seconds = *number;
  } else {
    while (!text.empty()) {
      const auto quantity = TakeQuantity(text);
      const auto unit = quantity ? SecondsOf(quantity->second) : std::nullopt;
      if (!unit) Expected("a duration like 30, 500ms, 90s, 10m or 1h30m");
      seconds += quantity->first * *unit;
    }
  }
  if (!(seconds > 0) || !std::isfinite(seconds)) Expected("a duration above zero");
  return seconds;
}

int64_t Field::Bytes() const {
  const std::string whole = Text();
  std::string_view text = whole;
  const auto quantity = TakeQuantity(text);
  double unit = 0;
  if (quantity && text.empty()) {
    constexpr std::string_view kUnits[] = {"", "KiB", "MiB", "GiB", "TiB"};
    for (int power = 0; power < 5; ++power) {
      if (quantity->second == kUnits[power]) unit = std::ldexp(1.0, 10 * power);
    }
  }
  const double bytes = unit > 0 ? quantity->first * unit : 0;
  if (!(bytes >= 1) || bytes > 1e18) Expected("a size like 65536, 512MiB or 4GiB");
  return static_cast<int64_t>(bytes);
}

nlohmann::json Field::Scalar() const {
  const std::string text = Text();
  if (IsQuoted()) return text;
  if (text == "true" || text == "True") return true;
  if (text == "false" || text == "False") return false;
  if (const auto whole = ParseNumber<int64_t>(text)) return *whole;
  if (const auto real = ParseNumber<double>(text); real && std::isfinite(*real)) return *real;
  return text;
}

std::string InOneLine(std::string_view text, size_t longest) {
  std::string line;
  while (!text.empty()) {
    const size_t length = CharacterLength(text);
    if (line.size() + std::max<size_t>(length, 1) > longest) return line + "...";
    const auto first = static_cast<unsigned char>(text.front());
    if (length == 0) {
      line += '?';
    } else if (first < 0x20 || first == 0x7f) {
      line += ' ';
    } else {
      line += text.substr(0, length);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return line;
}

}  // namespace bayloom
