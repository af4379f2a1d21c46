// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "bayloom/base/single_line.h"
#include "bayloom/base/version.h"
#include "bayloom/codegen/abi.h"
#include "bayloom/codegen/cpu_features.h"
#include "bayloom/graph/package/c_names.h"
#include "bayloom/graph/package/decoder_tables.h"
#include "bayloom/graph/package/package_module.h"

namespace bayloom::graph {
namespace {

constexpr char kHeader[] = R"(/* {name}: a network compiled by Bayloom {version}.
 *
 * Tensors are dense and row-major{choice}:
{tensors} *
 * The code needs a processor with all features of one of these lines; the first that fits is used:
{processors} *
 * Buffers aligned to {alignment} bytes are used in place, others are copied. */
#ifndef BAYLOOM_NETWORK_{name}_H_
#define BAYLOOM_NETWORK_{name}_H_

{common}
{stdint}#ifdef __cplusplus
extern "C" {{
#endif

/* A network with the memory it works in: one per thread that calls it. */
typedef struct {name}_model {name}_model;

/* Makes a model, which is null where that fails; abi_version is BAYLOOM_ABI_VERSION. Returns
 * BAYLOOM_OK or BAYLOOM_ERROR_..., as all functions here that return an int. */
int {name}_create(int abi_version, {name}_model** model);
/* Of a null model: nothing. */
int {name}_destroy({name}_model* model);

/* Computes the outputs from the inputs, of which there are {input_count} and {output_count}. */
int {name}_run({name}_model* model, const bayloom_input* inputs, int input_count,
    const bayloom_output* outputs, int output_count);

/* Threads of parallel loops, for all models; 0 means the environment variable BAYLOOM_THREADS, else
 * all processors. Not while a model runs. */
int {name}_set_threads(int threads);
/* From now on parallel loops of all models run as `tasks` tasks, 1 to 256, on threads of the
 * application's. A null function: on the library's own threads. Not while a model runs. */
int {name}_set_pool(bayloom_run_tasks run, void* pool, int tasks);

/* What a code means, in English. Never null. */
const char* {name}_error_text(int code);
/* The name of the processor whose code the model runs: the first word of a line above. */
const char* {name}_target(const {name}_model* model);
/* The tensors above as JSON, for programs: {{"name": ..., "shapes": [{{"label": ..., "inputs":
 * [{{"name": ..., "type": "float32", "shape": [1, 2]}}], "outputs": [...], "open": {{"batch":
 * [smallest, largest, step]}}, "found": {{"boxes": largest}}}}]}}; open dimensions, and those that the
 * network finds, are named in shapes. Of decoders also {{"decoder": {{"capacity": ..., "words": ...,
 * "held": {{NAME: NUMBER}}}}}}. Never null. */
const char* {name}_description(void);
{decoder}
#ifdef __cplusplus
}}
#endif

#endif
)";

std::string DescribeTensor(const Graph& graph, const char* list, size_t position,
                           const std::string& name, ValueId id) {
  const Value& value = graph.values[id];
  return fmt::format(" *   {}[{}]  \"{}\", {}, {}{} bytes\n", list, position, InComment(name),
                     InComment(TypeOf(graph, id)), IsOpen(value) ? "at most " : "",
                     value.ElementCount() * tensor::ByteSize(value.dtype));
}

std::string DescribeTensors(const Graph& graph) {
  std::string tensors;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const ValueId input = graph.inputs[i];
    tensors += DescribeTensor(graph, "inputs", i, graph.values[input].name, input);
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    tensors += DescribeTensor(graph, "outputs", i, graph.outputs[i].name, graph.outputs[i].value);
  }
  return tensors;
}

/// Open dimensions are named; the largest shape is beside them.
nlohmann::json TensorJson(const Graph& graph, const std::string& name, const Value& value) {
  nlohmann::json json = {
      {"name", name}, {"type", tensor::ToString(value.dtype)}, {"shape", value.shape}};
  if (!IsOpen(value)) return json;
  json["largest"] = value.shape;
  for (size_t d = 0; d < value.shape.size(); ++d) {
    const ValueId bound = value.BoundOf(d);
    if (bound >= 0) json["shape"][d] = graph.values[bound].size->ToString(graph.symbols);
  }
  return json;
}

nlohmann::json OpenJson(const Graph& graph) {
  nlohmann::json json = nlohmann::json::object();
  for (const Symbol& symbol : graph.symbols) {
    if (!symbol.is_found) json[symbol.name] = {symbol.smallest, symbol.largest, symbol.step};
  }
  return json;
}

nlohmann::json FoundJson(const Graph& graph) {
  nlohmann::json json = nlohmann::json::object();
  for (const Symbol& symbol : graph.symbols) {
    if (symbol.is_found) json[symbol.name] = symbol.largest;
  }
  return json;
}

}  // namespace

std::string PackageDescription(std::span<const PackageShape> shapes, const std::string& name) {
  nlohmann::json described = {{"name", name}, {"shapes", nlohmann::json::array()}};
  for (const PackageShape& shape : shapes) {
    const Graph& graph = shape.network->graph;
    nlohmann::json inputs = nlohmann::json::array(), outputs = nlohmann::json::array();
    for (const ValueId input : graph.inputs) {
      inputs.push_back(TensorJson(graph, graph.values[input].name, graph.values[input]));
    }
    for (const GraphOutput& output : graph.outputs) {
      outputs.push_back(TensorJson(graph, output.name, graph.values[output.value]));
    }
    described["shapes"].push_back(
        {{"label", shape.label}, {"inputs", std::move(inputs)}, {"outputs", std::move(outputs)}});
    if (!graph.symbols.empty()) described["shapes"].back()["open"] = OpenJson(graph);
    if (!graph.found.empty()) described["shapes"].back()["found"] = FoundJson(graph);
  }
  if (const auto decoder = DecoderOf(shapes)) {
    nlohmann::json held = nlohmann::json::object();
    for (const auto& [input, tensor] : decoder->held) held[tensor] = input;
    described["decoder"] = {{"capacity", decoder->capacity},
                            {"words", decoder->shapes.front().words},
                            {"held", std::move(held)}};
  }
  // Names may be any bytes; JSON is ASCII here, with a mark for what is no UTF-8.
  return described.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::string SizeErrorText(std::span<const PackageShape> shapes) {
  constexpr size_t kMaxListed = 16;
  std::vector<std::string> listed;
  for (const PackageShape& shape : shapes.first(std::min(shapes.size(), kMaxListed))) {
    const Graph& graph = shape.network->graph;
    std::vector<std::string> inputs;
    for (const ValueId input : graph.inputs) {
      const Value& value = graph.values[input];
      inputs.push_back(base::SingleLine(value.name) + " " + base::SingleLine(TypeOf(graph, input)));
    }
    for (const Symbol& symbol : graph.symbols) {
      if (!symbol.is_found) inputs.push_back(symbol.ToString());
    }
    inputs.resize(std::min(inputs.size(), kMaxListed));
    listed.push_back(shapes.size() > 1 ? base::SingleLine(shape.label, 200)
                                       : fmt::format("{}", fmt::join(inputs, ", ")));
  }
  return fmt::format("the buffers have not the sizes of the tensors; the library is for {}{}",
                     fmt::join(listed, "; "), shapes.size() > kMaxListed ? "; ..." : "");
}

std::string BoundErrorText(std::span<const PackageShape> shapes) {
  constexpr size_t kMaxListed = 16;
  std::vector<std::string> listed;
  for (const PackageShape& shape : shapes) {
    for (const FoundLength& found : shape.network->graph.found) {
      const std::string text =
          fmt::format("{} is {}", base::SingleLine(found.name), BoundText(found.least, found.most));
      if (std::ranges::count(listed, text) == 0) listed.push_back(text);
    }
  }
  listed.resize(std::min(listed.size(), kMaxListed));
  return fmt::format("the network finds another length than the library is for: {}",
                     fmt::join(listed, ", "));
}

std::string PackageHeader(std::span<const PackageShape> shapes,
                          std::span<const CompiledVariant> variants, const std::string& name,
                          std::string_view common) {
  const Graph& graph = shapes[0].network->graph;
  std::string tensors, processors;
  for (const PackageShape& shape : shapes) {
    if (shapes.size() > 1) tensors += fmt::format(" * {}\n", InComment(shape.label));
    for (const Symbol& symbol : shape.network->graph.symbols) {
      tensors += fmt::format(" *   {}: {}\n", symbol.is_found ? "found in a run" : "open",
                             InComment(symbol.ToString()));
    }
    tensors += DescribeTensors(shape.network->graph);
  }
  for (const CompiledVariant& variant : variants) {
    processors += fmt::format(" *   {}: {}\n", variant.target.name,
                              fmt::join(codegen::RequiredFeatures(variant.target), " "));
  }
  const std::optional<PackagedDecoder> decoder = DecoderOf(shapes);
  const char* choice =
      shapes.size() > 1 ? ". The sizes in bytes of a call say which of these shapes it has" : "";
  return fmt::format(kHeader, fmt::arg("name", name), fmt::arg("version", base::Version()),
                     fmt::arg("alignment", target::kBufferAlignment), fmt::arg("choice", choice),
                     fmt::arg("tensors", tensors), fmt::arg("processors", processors),
                     fmt::arg("input_count", graph.inputs.size()),
                     fmt::arg("output_count", graph.outputs.size()), fmt::arg("common", common),
                     fmt::arg("stdint", decoder ? "#include <stdint.h>\n" : ""),
                     fmt::arg("decoder", decoder ? DecoderDeclarations(*decoder, name) : ""));
}

}  // namespace bayloom::graph
