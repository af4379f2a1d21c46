// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Reads the table of schemas, which scripts/generate_schemas writes. It is text, a line each:
///
///     newest VERSION                     ONNX's newest operator set
///     set NUMBER TYPE...                 a set of types
///     op DOMAIN NAME VERSION [deprecated]   what follows belongs to it
///     in NAME TYPE                       an input; after the name, "?": optional,
///     out NAME TYPE                      "*N": variadic, N at least; "~N": of different types;
///                                        TYPE is the name of a constraint, or =TYPE
///     type NAME NUMBER                   a constraint: the set of types
///     attr NAME KIND[!] [DEFAULT]        an attribute; "!": required
///     body BASE64                        the function that defines the operator
#include "bayloom/graph/import/schema_table.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace bayloom::graph {

extern const char kSchemas[];  // generated at build time from schemas/schemas.txt

namespace {

[[noreturn]] void ThrowBadLine(std::string_view line) {
  throw std::logic_error("the table of schemas has the line '" + std::string(line) + "'");
}

template <typename Number = int>
Number ToNumber(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) ThrowBadLine(text);
  return number;
}

/// Removes and returns what is before the first separator.
std::string_view TakeUntil(std::string_view& text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

class SchemaTable {
 public:
  SchemaTable() {
    std::string_view text = kSchemas;
    while (!text.empty()) ReadLine(TakeUntil(text, '\n'));
    ResolveTypes();
  }

  using Versions = std::map<int, Schema>;

  const Versions* Find(std::string_view domain, std::string_view name) const {
    const auto found = operators_.find({domain, name});
    return found == operators_.end() ? nullptr : &found->second;
  }
  int newest() const { return newest_; }

 private:
  void ReadLine(std::string_view line) {
    const std::string_view whole = line;
    const std::string_view kind = TakeUntil(line, ' ');
    if (kind == "newest") {
      newest_ = ToNumber(line);
    } else if (kind == "set") {
      TypeSet& set = sets_[TakeUntil(line, ' ')];
      while (!line.empty()) set.push_back(TakeUntil(line, ' '));
    } else if (kind == "op") {
      ResolveTypes();
      ReadOperator(line);
    } else if (kind == "in" || kind == "out") {
      ReadParameter(line, kind == "in" ? schema_->inputs : schema_->outputs);
    } else if (kind == "type") {
      const std::string_view name = TakeUntil(line, ' ');
      constraints_[name] = &sets_.at(line);
    } else if (kind == "attr") {
      ReadAttribute(line);
    } else if (kind == "body") {
      schema_->body = line;
    } else if (!whole.starts_with('#')) {
      ThrowBadLine(whole);
    }
  }

  void ReadOperator(std::string_view line) {
    std::string_view domain = TakeUntil(line, ' ');
    if (domain == "ai.onnx") domain = "";
    const std::string_view name = TakeUntil(line, ' ');
    const int since = ToNumber(TakeUntil(line, ' '));
    schema_ = &operators_[{domain, name}][since];
    schema_->domain = domain;
    schema_->name = name;
    schema_->since = since;
    schema_->is_deprecated = line == "deprecated";
  }

  void ReadParameter(std::string_view line, std::vector<SchemaParameter>& parameters) {
    SchemaParameter parameter;
    std::string_view name = TakeUntil(line, ' ');
    const size_t mark = name.find_first_of("?*~");
    parameter.name = name.substr(0, mark);
    if (mark != std::string_view::npos) {
      parameter.option = name[mark] == '?' ? SchemaParameter::Option::kOptional
                                           : SchemaParameter::Option::kVariadic;
      parameter.is_homogeneous = name[mark] != '~';
      if (name[mark] != '?') parameter.min_arity = ToNumber(name.substr(mark + 1));
    }
    if (line.starts_with('=')) {
      line.remove_prefix(1);
      TypeSet& only = sets_[line];
      if (only.empty()) only.push_back(line);
      parameter.types = &only;
    } else {
      parameter.type = line;
    }
    parameters.push_back(parameter);
  }

  void ReadAttribute(std::string_view line) {
    SchemaAttribute attribute;
    attribute.name = TakeUntil(line, ' ');
    const size_t space = line.find(' ');
    std::string_view kind = TakeUntil(line, ' ');
    attribute.is_required = kind.ends_with('!');
    if (attribute.is_required) kind.remove_suffix(1);
    if (!onnx::AttributeProto::AttributeType_Parse(std::string(kind), &attribute.type)) {
      ThrowBadLine(kind);
    }
    if (space != std::string_view::npos) attribute.default_value = line;
    schema_->attributes.push_back(attribute);
  }

  /// Constraints follow the parameters that name them: looked up when a schema is complete.
  void ResolveTypes() {
    if (!schema_) return;
    for (auto* parameters : {&schema_->inputs, &schema_->outputs}) {
      for (SchemaParameter& parameter : *parameters) {
        if (!parameter.types) parameter.types = constraints_.at(parameter.type);
      }
    }
    constraints_.clear();
  }

  int newest_ = 0;
  std::map<std::string_view, TypeSet> sets_;  // by number, and single types by name
  std::map<std::pair<std::string_view, std::string_view>, Versions> operators_;
  Schema* schema_ = nullptr;  // the one that is being read
  std::map<std::string_view, const TypeSet*> constraints_;
};

const SchemaTable& Table() {
  static const auto* table = new SchemaTable();
  return *table;
}

std::string FromBase64(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<uint32_t>(kDigits.find(c));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<char>(bits >> count & 0xFF));
  }
  return bytes;
}

}  // namespace

const SchemaParameter* Schema::At(const std::vector<SchemaParameter>& parameters, size_t i) {
  if (i < parameters.size()) return &parameters[i];
  const bool repeats =
      !parameters.empty() && parameters.back().option == SchemaParameter::Option::kVariadic;
  return repeats ? &parameters.back() : nullptr;
}

const Schema* FindSchema(std::string_view domain, std::string_view name, int version) {
  const SchemaTable::Versions* versions = Table().Find(domain, name);
  if (!versions) return nullptr;
  const auto after = versions->upper_bound(version);
  return after == versions->begin() ? nullptr : &std::prev(after)->second;
}

int FirstVersion(std::string_view domain, std::string_view name) {
  const SchemaTable::Versions* versions = Table().Find(domain, name);
  return versions ? versions->begin()->first : 0;
}

int NewestOpset() { return Table().newest(); }

std::optional<onnx::FunctionProto> FunctionBody(const Schema& schema) {
  if (schema.body.empty()) return std::nullopt;
  onnx::FunctionProto body;
  if (!body.ParseFromString(FromBase64(schema.body))) {
    throw std::logic_error("the table of schemas has a damaged function");
  }
  return body;
}

onnx::AttributeProto DefaultOf(const SchemaAttribute& attribute) {
  onnx::AttributeProto proto;
  proto.set_name(std::string(attribute.name));
  proto.set_type(attribute.type);
  std::string_view text = attribute.default_value.value_or("");
  switch (attribute.type) {
    case onnx::AttributeProto::INT:
      proto.set_i(ToNumber<int64_t>(text));
      break;
    case onnx::AttributeProto::FLOAT:
      proto.set_f(ToNumber<float>(text));
      break;
    case onnx::AttributeProto::STRING:
      proto.set_s(std::string(text));
      break;
    case onnx::AttributeProto::INTS:
      while (!text.empty()) proto.add_ints(ToNumber<int64_t>(TakeUntil(text, ' ')));
      break;
    case onnx::AttributeProto::FLOATS:
      while (!text.empty()) proto.add_floats(ToNumber<float>(TakeUntil(text, ' ')));
      break;
    case onnx::AttributeProto::STRINGS:
      while (!text.empty()) proto.add_strings(std::string(TakeUntil(text, ' ')));
      break;
    default:
      throw std::logic_error("the table of schemas has a default of an unexpected kind");
  }
  return proto;
}

}  // namespace bayloom::graph
