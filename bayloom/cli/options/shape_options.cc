// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/options/shape_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "bayloom/base/result.h"
#include "bayloom/base/shell_text.h"
#include "bayloom/base/single_line.h"
#include "bayloom/cli/help.h"
#include "bayloom/cli/options/seen_sizes.h"

namespace bayloom::cli {
namespace {

/// Each is a network of its own.
constexpr size_t kMaxShapes = 64;

/// The whole text as a number of that type.
template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole ? std::optional(number) : std::nullopt;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// "1x3x224x224", "16,64"; empty if it is none.
std::vector<int64_t> ParseExtents(std::string_view text, char separator) {
  std::vector<int64_t> extents;
  for (const std::string_view part : Split(text, separator)) {
    const std::optional<int64_t> extent = ParseNumber<int64_t>(part);
    if (!extent || *extent < 0) return {};
    extents.push_back(*extent);
  }
  return extents;
}

/// The name and the value of NAME=VALUE; names of dimensions may contain the sign.
struct Assignment {
  std::string name;
  std::string value;
};

Assignment ParseAssignment(const std::string& text, size_t equals, const char* option,
                           const char* example) {
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw InputError(fmt::format("{}: '{}' is no NAME=VALUE; write {}", option,
                                 base::SingleLine(text), example));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

[[noreturn]] void RefuseTwice(const char* option, const std::string& name) {
  throw InputError(fmt::format("{}: '{}' is given twice", option, base::SingleLine(name)));
}

/// What --dim gives a dimension: values and ranges in which it stays open, or a sum of others.
struct DimensionValues {
  std::string name;
  std::vector<int64_t> values;
  std::vector<graph::Symbol> ranges;
  std::string sum;
};

/// "1..512", "32..1280:32"; nullopt if it is no range.
std::optional<graph::Symbol> ParseRange(const std::string& name, std::string_view text) {
  constexpr std::string_view kTo = "..";
  const size_t to = text.find(kTo), colon = text.find(':');
  if (to == std::string_view::npos) return std::nullopt;
  const bool has_step = colon != std::string_view::npos;
  const size_t end = to + kTo.size();
  const auto smallest = ParseNumber<int64_t>(text.substr(0, to));
  const auto largest =
      ParseNumber<int64_t>(text.substr(end, has_step ? colon - end : std::string_view::npos));
  const auto step =
      has_step ? ParseNumber<int64_t>(text.substr(colon + 1)) : std::optional<int64_t>(1);
  const auto refuse = [&](const std::string& reason) {
    throw InputError(fmt::format("--dim {}={}: {}", base::SingleLine(name),
                                 base::SingleLine(std::string(text)), reason));
  };
  if (!smallest || !largest || !step || *smallest < 0 || *step < 1) {
    refuse("no range; write 1..512, or 32..1280:32 for multiples of 32");
  }
  if (*smallest > *largest) refuse("the range ends before it begins");
  if (*largest - *smallest < *step) {
    refuse(fmt::format("there is one length in it; write {}", *smallest));
  }
  const int64_t last = *largest - (*largest - *smallest) % *step;
  if (last != *largest) {
    refuse(fmt::format("{} is not among {}, {}, ...; write {}..{}:{}", *largest, *smallest,
                       *smallest + *step, *smallest, last, *step));
  }
  return graph::Symbol{name, *smallest, *largest, *step};
}

/// "64", "16,64", "1,2..512", "total+1"; nullopt if it is none of these.
std::optional<DimensionValues> ParseDimension(const std::string& name, const std::string& text) {
  DimensionValues dimension = {name, {}, {}, ""};
  if (text.find('+') != std::string::npos) {
    dimension.sum = text;
    return dimension;
  }
  for (const std::string_view part : Split(text, ',')) {
    if (std::optional<graph::Symbol> range = ParseRange(name, part)) {
      dimension.ranges.push_back(*std::move(range));
      continue;
    }
    const std::optional<int64_t> value = ParseNumber<int64_t>(part);
    if (!value || *value < 0) return std::nullopt;
    dimension.values.push_back(*value);
  }
  return dimension;
}

/// Whether one is as another.
template <typename T>
bool HasEqual(const std::vector<T>& all) {
  return std::ranges::any_of(all, [&](const T& each) { return std::ranges::count(all, each) > 1; });
}

std::vector<DimensionValues> ParseDimensions(const std::vector<std::string>& texts) {
  constexpr const char* kExample =
      "--dim batch=1, --dim sequence=64,128, --dim sequence=1..512 or --dim total=past+1";
  std::vector<DimensionValues> dimensions;
  for (const std::string& text : texts) {
    const auto [name, value] = ParseAssignment(text, text.rfind('='), "--dim", kExample);
    std::optional<DimensionValues> dimension = ParseDimension(name, value);
    if (!dimension) {
      throw InputError(fmt::format("--dim: '{}' is no size of a dimension; write {}",
                                   base::SingleLine(text), kExample));
    }
    const bool has_equal = HasEqual(dimension->values) || HasEqual(dimension->ranges);
    const bool is_known =
        std::ranges::any_of(dimensions, [&name = name](const auto& d) { return d.name == name; });
    if (has_equal || is_known) RefuseTwice("--dim", has_equal ? text : name);
    dimensions.push_back(*std::move(dimension));
  }
  return dimensions;
}

tensor::HostTensor TensorOf(const std::vector<std::string_view>& parts, tensor::DType dtype) {
  std::vector<int64_t> shape;
  if (parts.size() > 1) shape.push_back(static_cast<int64_t>(parts.size()));
  return tensor::HostTensor::Zeros(dtype, std::move(shape));
}

/// Numbers divided by commas; nullopt if the text is none. Integers stay exact.
std::optional<tensor::HostTensor> ParseValues(std::string_view text) {
  if (text == "true") text = "1";
  if (text == "false") text = "0";
  const std::vector<std::string_view> parts = Split(text, ',');
  tensor::HostTensor integers = TensorOf(parts, tensor::DType::kInt64);
  tensor::HostTensor floats = TensorOf(parts, tensor::DType::kFloat64);
  bool all_integers = true;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::optional<int64_t> integer = ParseNumber<int64_t>(parts[i]);
    const std::optional<double> number = ParseNumber<double>(parts[i]);
    if (!number) return std::nullopt;
    all_integers = all_integers && integer.has_value();
    integers.SetInt(static_cast<int64_t>(i), integer.value_or(0));
    floats.Set(static_cast<int64_t>(i), *number);
  }
  return all_integers ? integers : floats;
}

tensor::HostTensor ReadValues(const std::string& text) {
  if (std::optional<tensor::HostTensor> values = ParseValues(text)) return *std::move(values);
  if (text.ends_with(".pb")) return graph::ReadOnnxTensor(text);
  throw InputError(fmt::format(
      "--freeze: '{}' is neither numbers nor a .pb file; write --freeze rate=16000, axes=1,2 or "
      "table=table.pb",
      base::SingleLine(text)));
}

const std::map<std::string, std::optional<tensor::DType>> kCacheTypes = {
    {"model", std::nullopt},
    {"f32", tensor::DType::kFloat32},
    {"f16", tensor::DType::kFloat16},
    {"bf16", tensor::DType::kBFloat16},
    {"int8", tensor::DType::kInt8}};

/// What is given once for all shapes.
graph::ImportOptions CommonOptions(const ShapeOptions& options) {
  graph::ImportOptions common;
  for (const std::string& text : options.shapes) {
    const auto [name, value] =
        ParseAssignment(text, text.find('='), "--shape", "--shape input=1x3x224x224");
    const std::vector<int64_t> shape = ParseExtents(value, 'x');
    if (shape.empty()) {
      throw InputError(fmt::format("--shape: '{}' is no shape of an input; write input=1x3x224x224",
                                   base::SingleLine(text)));
    }
    if (!common.input_shapes.emplace(name, shape).second) RefuseTwice("--shape", name);
  }
  for (const std::string& text : options.frozen) {
    const auto [name, value] =
        ParseAssignment(text, text.find('='), "--freeze", "--freeze rate=16000");
    auto tensor = std::make_shared<const tensor::HostTensor>(ReadValues(value));
    if (!common.frozen_inputs.emplace(name, std::move(tensor)).second) {
      RefuseTwice("--freeze", name);
    }
  }
  for (const std::string& text : options.bounds) {
    const auto [name, value] =
        ParseAssignment(text, text.rfind('='), "--bound", "--bound boxes=300");
    const std::optional<int64_t> bound = ParseNumber<int64_t>(value);
    if (!bound || *bound < 1) {
      throw InputError(fmt::format("--bound: '{}' is no largest length; write --bound boxes=300",
                                   base::SingleLine(text)));
    }
    if (!common.bounds.emplace(name, *bound).second) RefuseTwice("--bound", name);
  }
  common.last_rows = options.last_rows;
  common.integer_rows = options.activations == "int8";
  if (!options.cache.empty()) common.state_type = kCacheTypes.at(options.cache);
  common.grow_caches = !options.cache.empty();
  return common;
}

/// An argument as a shell takes it.
std::string Quoted(const std::string& argument) {
  return base::QuotedFor(base::ShellContext::kPlain, argument);
}

}  // namespace

void ShapeOptions::AddTo(CLI::App& command) {
  const auto add = [&](const char* name, std::vector<std::string>& values, const char* text,
                       const char* details, const char* form) {
    return command.add_option(name, values, WithDetails(text, details))
        ->option_text(form)
        ->expected(1)
        ->take_all();
  };
  add("--dim", dimensions, "Size of a dimension that the model leaves open: batch=1",
      ", in all inputs that have it; one without a name is called by its input and\n"
      "position, image.0; may be repeated; a size may be a sum, total=past+1, or a range of\n"
      "lengths that are known when the network runs, sequence=1..512 or height=32..1280:32\n"
      "(multiples of 32); 'tune' and 'compile' take several sizes and ranges, sequence=64,128\n"
      "or sequence=1,2..512",
      "NAME=SIZE");
  Advanced(add("--bound", bounds, "Largest length of what a network finds in a run: boxes=300",
               ": of a\ndimension, or a tensor that has it; 'check' says what is found; a run that "
               "finds more\nfails; may be repeated",
               "NAME=SIZE"));
  Advanced(command
               .add_option("--sizes", sizes,
                           WithDetails("CSV file of the sizes that runs have",
                                       ": its first line names the open dimensions, and 'count' "
                                       "where lines stand for\n"
                                       "several runs; programs are made and measured for sizes "
                                       "that stand for equal\n"
                                       "shares of them, in place of the whole range"))
               ->option_text("FILE"));
  Advanced(add("--shape", shapes, "Shape of an input: input=1x3x224x224",
               "; open dimensions have these sizes in all inputs; may be repeated", "NAME=SHAPE"));
  Advanced(add("--freeze", frozen, "Make an input a constant: rate=16000",
               ", axes=1,2 or a tensor in a file, table=table.pb; may be repeated", "NAME=VALUE"));
  Advanced(add("--last-row", last_rows, "Compute only the last row of an output: logits",
               " of a decoder, of which\nsampling reads no other; may be repeated", "OUTPUT"));
  OneOf(Advanced(command
                     .add_option("--cache", cache,
                                 WithDetails("Type in which a decoder keeps keys and values: f16",
                                             ";\nmodel is the model's; with any of them, caches of "
                                             "fixed size become states that grow"))
                     ->option_text("TYPE")),
        {"model", "f32", "f16", "bf16", "int8"});
  OneOf(
      Advanced(command
                   .add_option("--activations", activations,
                               WithDetails("Type of what weights of few bits are multiplied by",
                                           ": int8 rounds it by\nblocks, and products are summed "
                                           "up as integers; model does so where the\nmodel permits "
                                           "it (accuracy_level)"))
                   ->option_text("TYPE")
                   ->capture_default_str()),
      {"model", "int8"});
}

namespace {

/// The shapes share what a network keeps from one run to the next: its room is that for the longest
/// ones of all dimensions that are open in any of them, or differ.
void ShareStates(std::vector<ModelShape>& shapes) {
  std::map<std::string, std::set<int64_t>> lengths;
  for (const ModelShape& shape : shapes) {
    for (const auto& [name, length] : shape.options.dimensions) lengths[name].insert(length);
    for (const graph::Symbol& symbol : shape.options.symbols) {
      lengths[symbol.name].insert({symbol.smallest, symbol.largest});
    }
  }
  int64_t room = 0;
  for (const auto& [name, all] : lengths) room += all.size() > 1 ? *all.rbegin() : 0;
  for (ModelShape& shape : shapes) shape.options.state_room = room;
}

}  // namespace

std::vector<ModelShape> ShapeOptions::All() const {
  std::vector<ModelShape> all = {{"", CommonOptions(*this)}};
  for (const DimensionValues& dimension : ParseDimensions(dimensions)) {
    if (!dimension.sum.empty()) {
      for (ModelShape& shape : all) shape.options.sums[dimension.name] = dimension.sum;
      continue;
    }
    const bool is_only = dimension.values.size() + dimension.ranges.size() == 1;
    std::vector<ModelShape> longer;
    const auto add = [&](const ModelShape& shape, const std::string& text) -> ModelShape& {
      ModelShape& added = longer.emplace_back(shape);
      if (!is_only) added.label += (added.label.empty() ? "" : " ") + text;
      return added;
    };
    for (const ModelShape& shape : all) {
      for (const int64_t value : dimension.values) {
        add(shape, fmt::format("{}={}", dimension.name, value)).options.dimensions[dimension.name] =
            value;
      }
      for (const graph::Symbol& range : dimension.ranges) {
        add(shape, range.ToString()).options.symbols.push_back(range);
      }
    }
    all = std::move(longer);
    if (all.size() > kMaxShapes) {
      throw InputError(
          fmt::format("--dim: more than {} combinations of the sizes are too many", kMaxShapes));
    }
  }
  if (all.size() > 1) ShareStates(all);
  if (sizes.empty()) return all;
  const SeenSizes seen(sizes);
  bool is_any_open = false;
  for (ModelShape& shape : all) {
    if (shape.options.symbols.empty()) continue;
    shape.options.points = seen.PointsFor(shape.options);
    is_any_open = true;
  }
  if (!is_any_open) throw InputError("--sizes: no dimension is open; write --dim sequence=1..512");
  return all;
}

std::vector<std::string> ShapeOptions::Arguments() const {
  std::vector<std::string> arguments;
  const auto add = [&](const char* option, const std::vector<std::string>& values) {
    for (const std::string& value : values) arguments.insert(arguments.end(), {option, value});
  };
  add("--dim", dimensions);
  add("--bound", bounds);
  if (!sizes.empty()) add("--sizes", {sizes});
  add("--shape", shapes);
  add("--freeze", frozen);
  add("--last-row", last_rows);
  if (!cache.empty()) add("--cache", {cache});
  if (activations != "model") add("--activations", {activations});
  return arguments;
}

std::vector<std::string> ShapeOptions::Given() const {
  std::vector<std::string> given = dimensions;
  given.insert(given.end(), bounds.begin(), bounds.end());
  given.insert(given.end(), shapes.begin(), shapes.end());
  given.insert(given.end(), frozen.begin(), frozen.end());
  given.insert(given.end(), last_rows.begin(), last_rows.end());
  if (!cache.empty()) given.push_back("cache=" + cache);
  if (activations != "model") given.push_back("activations=" + activations);
  return given;
}

std::string SuggestShapes(const std::vector<graph::OpenDimension>& dimensions,
                          const std::vector<std::string>& shapeless) {
  std::vector<std::string> arguments;
  const std::map<std::string, int64_t> extents = graph::ExampleExtents(dimensions, 128);
  for (const graph::OpenDimension& dimension : dimensions) {
    arguments.push_back("--dim " +
                        Quoted(fmt::format("{}={}", dimension.name, extents.at(dimension.name))));
  }
  for (const std::string& input : shapeless) {
    arguments.push_back("--shape " + Quoted(input + "=1x3x224x224"));
  }
  return fmt::format("{}", fmt::join(arguments, " "));
}

namespace {

/// What `import` returns, with advice in its errors.
template <typename Import>
auto Advising(const Import& import) {
  try {
    return import();
  } catch (const graph::OpenShapeError& error) {
    throw InputError(fmt::format("{}; give what is missing, such as {}", error.what(),
                                 SuggestShapes(error.dimensions(), error.inputs())));
  } catch (const graph::RunTimeDependence& error) {
    if (!error.bound().empty()) {
      throw InputError(fmt::format("{} (--bound {})", error.what(),
                                   Quoted(fmt::format("{}=300", error.bound()))));
    }
    if (error.inputs().empty()) throw;
    throw InputError(fmt::format("{} (--freeze {}=VALUE)", error.what(), error.inputs().front()));
  }
}

}  // namespace

graph::Graph ImportWithAdvice(const std::string& path, const graph::ImportOptions& options) {
  return Advising([&] { return graph::ImportOnnx(path, options); });
}

graph::PartialNetwork ImportPartialWithAdvice(const std::string& path,
                                              const graph::ImportOptions& options) {
  return Advising([&] { return graph::ImportPartial(path, options); });
}

}  // namespace bayloom::cli
