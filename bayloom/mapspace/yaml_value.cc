#include "bayloom/mapspace/yaml_value.h"

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/base/result.h"
#include "bayloom/base/spelling.h"

namespace bayloom {
namespace {

std::string Position(const std::string& file, const YAML::Mark& mark) {
  return mark.is_null() ? file + ": " : fmt::format("{}:{}: ", file, mark.line + 1);
}

}  // namespace

YamlValue YamlValue::Load(const std::string& file) {
  try {
    return YamlValue(YAML::LoadFile(file), file, "");
  } catch (const YAML::BadFile&) {
    throw InputError("cannot read '" + file + "'");
  } catch (const YAML::Exception& error) {
    throw InputError(Position(file, error.mark) + error.msg);
  }
}

YamlValue YamlValue::Parse(const std::string& text, const std::string& file) {
  try {
    return YamlValue(YAML::Load(text), file, "");
  } catch (const YAML::Exception& error) {
    throw InputError(Position(file, error.mark) + error.msg);
  }
}

std::string YamlValue::Where() const { return Position(file_, node_.Mark()); }

void YamlValue::Refuse(const std::string& reason) const {
  throw InputError(Where() + (path_.empty() ? "" : path_ + ": ") + reason);
}

std::optional<YamlValue> YamlValue::Find(std::initializer_list<const char*> keys) const {
  if (!IsMap()) Refuse("expected keys and values here");
  for (const char* key : keys) {
    const YAML::Node found = node_[key];
    if (found.IsDefined() && !found.IsNull()) {
      return YamlValue(found, file_, path_.empty() ? key : path_ + "." + key);
    }
  }
  return std::nullopt;
}

YamlValue YamlValue::At(std::initializer_list<const char*> keys) const {
  std::optional<YamlValue> found = Find(keys);
  if (!found) Refuse(fmt::format("key '{}' is missing", *keys.begin()));
  return *found;
}

void YamlValue::RefuseMistypedKeys(const std::vector<std::string_view>& known) const {
  if (!IsMap()) return;
  for (const auto& entry : node_) {
    const YAML::Node& key = entry.first;
    if (!key.IsScalar() || std::ranges::find(known, key.Scalar()) != known.end()) continue;
    const std::string_view meant = Nearest(key.Scalar(), known);
    if (meant.empty()) continue;
    YamlValue(key, file_, path_)
        .Refuse(fmt::format("there is no key '{}'; did you mean '{}'?", key.Scalar(), meant));
  }
}

std::vector<YamlValue> YamlValue::Items() const {
  if (!IsList()) Refuse("expected a list here");
  std::vector<YamlValue> items;
  for (size_t i = 0; i < node_.size(); ++i) {
    items.push_back(YamlValue(node_[i], file_, fmt::format("{}[{}]", path_, i)));
  }
  return items;
}

std::string YamlValue::Text() const {
  if (!IsScalar()) Refuse("expected one value here");
  return node_.Scalar();
}

int64_t YamlValue::Integer(int64_t least) const {
  int64_t value = 0;
  if (!IsScalar() || !YAML::convert<int64_t>::decode(node_, value)) {
    Refuse("'" + Text() + "' is no whole number");
  }
  if (value < least) Refuse(fmt::format("must be at least {}, not {}", least, value));
  return value;
}

double YamlValue::Number() const {
  double value = 0;
  if (!IsScalar() || !YAML::convert<double>::decode(node_, value)) {
    Refuse("'" + Text() + "' is no number");
  }
  return value;
}

bool YamlValue::Boolean() const {
  bool value = false;
  if (!IsScalar() || !YAML::convert<bool>::decode(node_, value)) {
    Refuse("'" + Text() + "' is neither true nor false");
  }
  return value;
}

std::vector<std::string> YamlValue::Words() const {
  if (IsScalar()) return {Text()};
  std::vector<std::string> words;
  for (const YamlValue& item : Items()) words.push_back(item.Text());
  return words;
}

}  // namespace bayloom
