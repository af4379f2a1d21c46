// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bayloom/base/result.h"

namespace YAML {
class Node;
}

namespace bayloom::yaml {

struct ComposedText;

/// A value of a YAML or JSON file that a person wrote, which knows its place (JSON is read by the
/// YAML parser, so that both have line numbers). What does not fit throws an InputError of one
/// line:
///
///     matmul.yaml:12:9: parameters.tile.range: expected a list, found '7'
///
/// Refused are files that exceed the limits of base/text_limits.h (length, nesting, what aliases
/// repeat), that are not UTF-8, that hold several documents or that contain themselves. So code
/// that visits every value, aliases followed, ends soon. Copies are cheap and refer to the same
/// document.
class YamlValue {
 public:
  /// The top of a document; `source` is its name in messages.
  static YamlValue Parse(const std::string& text, const std::string& source);
  static YamlValue Load(const std::string& path);
  /// A document whose lines were written in several files, in which `<<` and `<<<` merge maps (see
  /// template/template.h).
  static YamlValue Compose(ComposedText text, const std::string& source);
  /// A list of values of other documents.
  static YamlValue ListOf(const std::vector<YamlValue>& items, const std::string& source);

  bool IsMap() const;
  bool IsList() const;
  bool IsScalar() const;
  bool IsNull() const;
  /// A scalar that was written in quotes: text even if it looks like a number.
  bool IsQuoted() const;

  /// The entry of a map; nullopt where there is none or it is null.
  std::optional<YamlValue> Find(std::string_view key) const;
  /// The entry of the first of these keys that is there.
  std::optional<YamlValue> FindAny(std::initializer_list<std::string_view> keys) const;
  /// The same; throws, naming the first key, where there is none.
  YamlValue At(std::string_view key) const { return AtAny({key}); }
  YamlValue AtAny(std::initializer_list<std::string_view> keys) const;
  /// The entries of a map in the order they are written, no key twice.
  std::vector<std::pair<std::string, YamlValue>> Entries() const;
  std::vector<YamlValue> Items() const;

  /// Refuses a map with other keys than these, naming the one that was perhaps meant.
  void AllowOnly(std::initializer_list<std::string_view> keys) const;
  /// Refuses only keys that are probably these, misspelt; for a grammar that has more keys than are
  /// known here.
  void RefuseMisspelt(const std::vector<std::string_view>& keys) const;

  std::string Text() const;
  /// A text to call something by: not empty, at most kMaxNameBytes, without control characters.
  std::string Name() const;
  /// A list of names, or one name.
  std::vector<std::string> Names() const;
  /// A list of texts, or one text.
  std::vector<std::string> Texts() const;
  double Real() const;  ///< finite
  /// A number within [low, high].
  double RealWithin(double low, double high) const;
  int64_t Int() const;
  int64_t IntAtLeast(int64_t low) const;
  /// A whole number within [low, high].
  int64_t IntWithin(int64_t low, int64_t high) const;
  bool Bool() const;
  /// Seconds, as ParseDuration reads them. Positive.
  double Duration() const;
  /// Bytes: a whole number, or "512MiB", "4GiB". Positive.
  int64_t Bytes() const;
  /// The value of a scalar as it reads: true and false, whole numbers, other numbers, text.
  nlohmann::json Scalar() const;

  /// "parameters.tile.range"; empty at the top.
  const std::string& path() const { return path_; }
  /// "matmul.yaml:12:9: ", what messages begin with.
  std::string Where() const;
  [[noreturn]] void Fail(const std::string& message) const;

 private:
  struct Document;
  using NamedValues = std::vector<std::pair<std::string, YamlValue>>;

  static YamlValue Make(std::shared_ptr<Document> document, const std::string& text);
  static YamlValue MapOf(const NamedValues& entries, const std::string& where);
  /// The first, with what the others add as `<<<` says it.
  static YamlValue Merged(const std::vector<YamlValue>& values);
  /// The entries of several maps: the first of each name, or all of that name merged.
  static NamedValues Union(const std::vector<NamedValues>& maps, bool is_deep);
  /// Takes the keys `<<` and `<<<` from the entries of a map and adds what they say.
  static void Merge(NamedValues& entries);
  YamlValue(std::shared_ptr<const Document> document, const YAML::Node& node, std::string path);
  YamlValue Child(const YAML::Node& node, std::string path) const;
  std::string Tag() const;
  YamlValue Entry(const std::string& key, const YAML::Node& node) const;
  /// "expected a number, found 'x'".
  [[noreturn]] void Expected(std::string_view what) const;

  std::shared_ptr<const Document> document_;
  std::shared_ptr<const YAML::Node> node_;
  std::string path_;
};

/// Bad input whose message begins with its place.
class PlacedError : public InputError {
 public:
  using InputError::InputError;
};

/// Calls `make`; what it refuses is thrown with the place of the value that asked for it, unless
/// it has a place of its own.
template <typename Make>
auto WithPlace(const YamlValue& value, Make make) {
  try {
    return make();
  } catch (const PlacedError&) {
    throw;
  } catch (const InputError& error) {
    value.Fail(error.what());
  }
}

}  // namespace bayloom::yaml
