#pragma once

// Internal to the YAML readers of this room: pulls in yaml-cpp.

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bayloom {

/// A place in a YAML document that knows its file, line and key, so that everything it refuses
/// says where: "arch.yaml:14: arch.storage[1].sizeKB: '64k' is no whole number".
class YamlValue {
 public:
  /// Throw InputError if the file cannot be read or is no YAML.
  static YamlValue Load(const std::string& file);
  static YamlValue Parse(const std::string& text, const std::string& file);

  /// Throws InputError: where this is, and the reason.
  [[noreturn]] void Refuse(const std::string& reason) const;
  /// "arch.yaml:14: ".
  std::string Where() const;

  bool IsMap() const { return node_.IsMap(); }
  bool IsList() const { return node_.IsSequence(); }
  bool IsScalar() const { return node_.IsScalar(); }

  /// The value of the first of these keys that is there.
  std::optional<YamlValue> Find(std::initializer_list<const char*> keys) const;
  /// The same; refuses, naming the first key, if none is there.
  YamlValue At(std::initializer_list<const char*> keys) const;
  /// Refuses a key of this map that is none of these and looks like a slip of the finger for one.
  /// (Timeloop's grammar has many more keys than are read here.)
  void RefuseMistypedKeys(const std::vector<std::string_view>& known) const;
  /// The elements of a list; refuses anything else.
  std::vector<YamlValue> Items() const;

  std::string Text() const;
  /// A whole number of at least `least`.
  int64_t Integer(int64_t least) const;
  double Number() const;
  bool Boolean() const;
  /// A list of words, or one word.
  std::vector<std::string> Words() const;

 private:
  YamlValue(YAML::Node node, std::string file, std::string path)
      : node_(std::move(node)), file_(std::move(file)), path_(std::move(path)) {}

  YAML::Node node_;
  std::string file_;
  std::string path_;
};

}  // namespace bayloom
