// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/package/package_module.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bayloom/codegen/abi.h"
#include "bayloom/codegen/cpu_features.h"
#include "bayloom/graph/package/decoder_tables.h"
#include "bayloom/graph/package/gpu_tables.h"
#include "bayloom/graph/package/ir_text.h"
#include "bayloom/graph/package/plan_tables.h"

namespace bayloom::graph {
namespace {

/// Functions of every package over those of the runtime.
constexpr char kPackageFunctions[] = R"(
define i32 @{name}_create(i32 %version, ptr %model) {{
  %code = tail call i32 @bayloom_model_create(ptr @network, i32 %version, ptr %model)
  ret i32 %code
}}
define i32 @{name}_destroy(ptr %model) {{
  %code = tail call i32 @bayloom_model_destroy(ptr @network, ptr %model)
  ret i32 %code
}}
define i32 @{name}_run(ptr %model, ptr %inputs, i32 %input_count, ptr %outputs, i32 %output_count) {{
  %code = tail call i32 @bayloom_model_run(ptr @network, ptr %model, ptr %inputs, i32 %input_count, ptr %outputs, i32 %output_count)
  ret i32 %code
}}
define i32 @{name}_set_threads(i32 %threads) {{
  %code = tail call i32 @bayloom_model_set_threads(i32 %threads)
  ret i32 %code
}}
define i32 @{name}_set_pool(ptr %run, ptr %pool, i32 %tasks) {{
  %code = tail call i32 @bayloom_model_set_pool(ptr %run, ptr %pool, i32 %tasks)
  ret i32 %code
}}
define ptr @{name}_error_text(i32 %code) {{
  %text = tail call ptr @bayloom_error_text(ptr @network, i32 %code)
  ret ptr %text
}}
define ptr @{name}_target(ptr %model) {{
  %text = tail call ptr @bayloom_model_target(ptr %model)
  ret ptr %text
}}
define ptr @{name}_description() {{
  ret {description}
}}
declare i32 @bayloom_model_create(ptr, i32, ptr)
declare i32 @bayloom_model_destroy(ptr, ptr)
declare i32 @bayloom_model_run(ptr, ptr, ptr, i32, ptr, i32)
declare i32 @bayloom_model_set_threads(i32)
declare i32 @bayloom_model_set_pool(ptr, ptr, i32)
declare ptr @bayloom_error_text(ptr, i32)
declare ptr @bayloom_model_target(ptr)
)";

/// The tensors that a shape takes and gives.
std::vector<ValueId> TensorsOf(const Graph& graph) {
  std::vector<ValueId> tensors = graph.inputs;
  for (const GraphOutput& output : graph.outputs) tensors.push_back(output.value);
  return tensors;
}

int64_t DimCount(const Graph& graph) {
  int64_t count = 0;
  for (const ValueId id : TensorsOf(graph)) count += std::ssize(graph.values[id].shape);
  return count;
}

Length LengthOf(const Graph& graph, const Value& value, size_t dimension) {
  const ValueId bound = value.BoundOf(dimension);
  return bound < 0 ? Length(value.shape[dimension]) : *graph.values[bound].size;
}

/// Where a call says how long the open dimensions are, if it does: bayloom_open_dimension.
std::string OpenDimensionTable(IrText& ir, const Graph& graph) {
  std::vector<std::string> open;
  for (size_t s = 0; s < graph.symbols.size(); ++s) {
    const auto [input, dimension] = PlaceOfSymbol(graph, static_cast<int>(s));
    const Symbol& symbol = graph.symbols[s];
    open.push_back(fmt::format("{{ i64 {}, i64 {}, i64 {}, i32 {}, i32 {} }}", symbol.smallest,
                               symbol.largest, symbol.step, input, dimension));
  }
  return ir.Table("{ i64, i64, i64, i32, i32 }", open);
}

/// bayloom_shape
constexpr char kShapeType[] = "{ ptr, ptr, ptr, ptr, ptr, i32, ptr }";

std::string ShapeTable(IrText& ir, const Graph& graph, const NetworkPlan& plan) {
  std::vector<int64_t> ranks, element_bytes;
  std::vector<std::string> dims;
  for (const ValueId id : TensorsOf(graph)) {
    const Value& value = graph.values[id];
    ranks.push_back(std::ssize(value.shape));
    element_bytes.push_back(tensor::ByteSize(value.dtype));
    for (size_t d = 0; d < value.shape.size(); ++d) {
      // The elements of a table of pointers are without their type.
      dims.push_back(ir.Length(LengthOf(graph, value, d)).substr(4));
    }
  }
  return fmt::format("{{ {}, {}, {}, {}, {}, i32 {}, {} }}", ir.Numbers("i64", plan.input_bytes),
                     ir.Numbers("i64", plan.output_bytes), ir.Numbers("i32", ranks),
                     ir.Numbers("i64", element_bytes), ir.Table("ptr", dims), graph.symbols.size(),
                     OpenDimensionTable(ir, graph));
}

/// bayloom_variant
constexpr char kVariantType[] = "{ ptr, ptr, i64, i64, i64, ptr, ptr, ptr }";

std::string VariantTable(IrText& ir, std::span<const PackageShape> shapes,
                         const CompiledVariant& variant, const std::string& name,
                         int64_t constant_bytes) {
  const std::string target = ir.Chars(variant.target.name);
  if (variant.IsForGpu()) {
    const std::string program = GpuProgram(ir, variant, name, constant_bytes);
    ir.Add("@bayloom_gpu_accelerator = external constant i8\n");
    return fmt::format(
        "{{ {}, {}, i64 0, i64 0, i64 0, ptr null, ptr @bayloom_gpu_accelerator, {} }}", target,
        ir.Chars(""), program);
  }
  int64_t arena_bytes = 0;
  for (const NetworkPlan& plan : variant.plans) {
    arena_bytes = std::max(arena_bytes, plan.arena_bytes);
  }
  const WorkspaceBytes workspace = LargestWorkspace(variant);
  const std::string features =
      fmt::format("{}", fmt::join(codegen::RequiredFeatures(variant.target), ","));
  return fmt::format("{{ {}, {}, i64 {}, i64 {}, i64 {}, {}, ptr null, ptr null }}", target,
                     ir.Chars(features), arena_bytes, workspace.shared, workspace.worker,
                     PlanTables(ir, shapes, variant));
}

int64_t LargestStates(std::span<const NetworkPlan> plans) {
  return std::ranges::max_element(plans, {}, &NetworkPlan::state_bytes)->state_bytes;
}

/// What a processor lacks that cannot run even the least demanding variant.
std::string ProcessorError(const target::Target& least) {
  return fmt::format("the code needs a processor that has all features of {}: {}",
                     least.name == "native" ? least.cpu : least.name,
                     fmt::join(codegen::RequiredFeatures(least), " "));
}

}  // namespace

std::string ConstantsSymbol(const std::string& name) { return name + "_constants"; }

std::string ImagesSymbol(const std::string& name) { return name + "_images"; }

std::string KernelPrefix(size_t variant) { return fmt::format("kernel_{}_", variant); }

std::string PackageModule(std::span<const PackageShape> shapes,
                          std::span<const CompiledVariant> variants, const std::string& name,
                          int64_t constant_bytes) {
  const std::vector<NetworkPlan>& plans = variants[0].plans;
  IrText ir;
  ir.Add(fmt::format("@{} = external constant i8\n", ConstantsSymbol(name)));
  std::vector<std::string> shape_tables, variant_tables;
  int64_t dim_count = 0;
  size_t open_count = 0;
  for (size_t s = 0; s < plans.size(); ++s) {
    const Graph& graph = shapes[s].network->graph;
    shape_tables.push_back(ShapeTable(ir, graph, plans[s]));
    dim_count = std::max(dim_count, DimCount(graph));
    open_count = std::max(open_count, graph.symbols.size());
  }
  for (const CompiledVariant& variant : variants) {
    variant_tables.push_back(VariantTable(ir, shapes, variant, name, constant_bytes));
  }
  const std::optional<PackagedDecoder> decoder = DecoderOf(shapes);
  const std::string decoder_table =
      decoder ? DecoderTable(ir, *decoder, plans[0].states) : "ptr null";
  const std::string network = fmt::format(
      "i32 {}, i32 {}, i32 {}, {}, i32 {}, i32 {}, i64 {}, {}, i32 {}, {}, {}, {}, {}, ptr @{}, "
      "i64 {}",
      plans[0].input_bytes.size(), plans[0].output_bytes.size(), plans.size(),
      ir.Table(kShapeType, shape_tables), dim_count, open_count, LargestStates(plans),
      decoder_table, variants.size(), ir.Table(kVariantType, variant_tables),
      ir.Chars(ProcessorError(variants.back().target)), ir.Chars(SizeErrorText(shapes)),
      ir.Chars(BoundErrorText(shapes)), ConstantsSymbol(name), constant_bytes);
  ir.Add(fmt::format(
      "@network = internal constant {{ i32, i32, i32, ptr, i32, i32, i64, ptr, i32, ptr, ptr, ptr, "
      "ptr, ptr, i64 }} {{ {} }}\n",
      network));
  const std::string description = ir.Chars(PackageDescription(shapes, name));
  ir.Add(
      fmt::format(kPackageFunctions, fmt::arg("name", name), fmt::arg("description", description)));
  if (decoder) ir.Add(DecoderFunctions(*decoder, name));
  return ir.text();
}

std::vector<std::string> PackageFunctions(std::span<const PackageShape> shapes,
                                          const std::string& name) {
  std::vector<std::string> functions;
  for (const char* function : {"create", "destroy", "run", "set_threads", "set_pool", "error_text",
                               "target", "description"}) {
    functions.push_back(fmt::format("{}_{}", name, function));
  }
  const std::optional<PackagedDecoder> decoder = DecoderOf(shapes);
  if (!decoder) return functions;
  for (const char* function : {"step", "length", "rewind", "copy"}) {
    functions.push_back(fmt::format("{}_{}", name, function));
  }
  if (!decoder->held.empty()) functions.push_back(name + "_set");
  return functions;
}

}  // namespace bayloom::graph
