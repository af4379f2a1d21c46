// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/package/package_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "bayloom/codegen/abi.h"
#include "bayloom/codegen/cpu_features.h"
#include "bayloom/graph/package/c_names.h"
#include "bayloom/graph/package/decoder_source.h"
#include "bayloom/graph/package/gpu_package_source.h"

namespace bayloom::graph {
namespace {

/// The address of an argument as a C expression.
std::string Address(const Storage& storage) {
  switch (storage.kind) {
    case Storage::Kind::kInput:
      return fmt::format("(void*)((const char*)in[{}] + {})", storage.position, storage.offset);
    case Storage::Kind::kOutput:
      return fmt::format("(char*)out[{}] + {}", storage.position, storage.offset);
    case Storage::Kind::kArena:
      return fmt::format("arena + {}", storage.position);
    case Storage::Kind::kState:
      return fmt::format("states + {} + ({}) * {}", storage.position,
                         storage.rows.ToCode("lengths"), storage.row_bytes);
    case Storage::Kind::kConstant:
      break;
  }
  return fmt::format("(void*)(bayloom_constants + {})", storage.position);
}

constexpr char kHead[] = R"(#include "{name}.h"

#include <stdint.h>
#include <string.h>

#include "bayloom_decoder.h"
#include "bayloom_model.h"
#include "bayloom_open.h"
#include "bayloom_runtime.h"

extern const char bayloom_constants[];

)";

constexpr char kShape[] = R"(
static const int64_t kInputBytes{shape}[] = {{{input_bytes}}};
static const int64_t kOutputBytes{shape}[] = {{{output_bytes}}};
static const int kRanks{shape}[] = {{{ranks}}};
static const int64_t kElementBytes{shape}[] = {{{element_bytes}}};
static void Dims{shape}(const int64_t* lengths, int64_t* dims) {{
  (void)lengths, (void)dims;
{dims}}}
static const bayloom_open_dimension kOpen{shape}[] = {{{open}}};
)";

constexpr char kRunHead[] = R"(
static void Run{variant}_{shape}(char* arena, char* states, void* workspace, const void* const* in,
    void* const* out, const int64_t* lengths, void* last) {{
  (void)arena, (void)states, (void)workspace, (void)in, (void)out, (void)lengths, (void)last;
)";

constexpr char kTail[] = R"(
static const bayloom_shape kShapes[] = {{
{shapes}}};
static const bayloom_variant kVariants[] = {{
{variants}}};
static const bayloom_network kNetwork = {{
    {inputs}, {outputs}, {shape_count}, kShapes, {dim_count}, {open_count}, {state_bytes},
    {decoder}, {variant_count}, kVariants, {processor_error}, {size_error}, bayloom_constants,
    {constant_bytes}}};

int {name}_create(int abi_version, {name}_model** model) {{
  bayloom_model* made = NULL;
  const int code = bayloom_model_create(&kNetwork, abi_version, model == NULL ? NULL : &made);
  if (model != NULL) *model = ({name}_model*)made;
  return code;
}}

int {name}_destroy({name}_model* model) {{
  return bayloom_model_destroy(&kNetwork, (bayloom_model*)model);
}}

int {name}_run({name}_model* model, const bayloom_input* inputs, int input_count,
    const bayloom_output* outputs, int output_count) {{
  return bayloom_model_run(&kNetwork, (bayloom_model*)model, inputs, input_count, outputs,
      output_count);
}}

int {name}_set_threads(int threads) {{ return bayloom_model_set_threads(threads); }}

const char* {name}_error_text(int code) {{ return bayloom_error_text(&kNetwork, code); }}

const char* {name}_target(const {name}_model* model) {{
  return bayloom_model_target((const bayloom_model*)model);
}}

const char* {name}_description(void) {{ return {description}; }}
)";

/// Copies a tensor between the caller's memory and the network's, unless the caller leaves it out.
std::string CopyOpen(const char* function, const OpenTensor& tensor, const std::string& callers,
                     const std::string& to, const std::string& from) {
  std::string lengths, extents;
  for (size_t d = 0; d < tensor.extents.size(); ++d) {
    lengths += tensor.lengths[d].ToCode("lengths") + ", ";
    extents += fmt::format("{}, ", tensor.extents[d]);
  }
  return fmt::format(
      "  if ({} != NULL) {{\n    const int64_t of_run[] = {{{}0}}, most[] = {{{}0}};\n"
      "    {}({}, {}, {}, of_run, most, {});\n  }}\n",
      callers, lengths, extents, function, to, from, tensor.extents.size(), tensor.element_bytes);
}

/// Initializer lists may not be empty in C.
std::string List(const std::vector<int64_t>& values) {
  std::string text;
  for (int64_t v : values) text += fmt::format("{}, ", v);
  return text + "0";
}

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

/// Where a call says how long an open dimension is.
std::string OpenDimensionTable(const Graph& graph) {
  std::string table;
  for (size_t s = 0; s < graph.symbols.size(); ++s) {
    const auto [input, dimension] = PlaceOfSymbol(graph, static_cast<int>(s));
    const Symbol& symbol = graph.symbols[s];
    table += fmt::format("{{{}, {}, {}, {}, {}}}, ", symbol.smallest, symbol.largest, symbol.step,
                         input, dimension);
  }
  return table + "{0, 0, 0, 0, 0}";
}

std::string ShapeTables(const Graph& graph, const NetworkPlan& plan, size_t shape) {
  std::vector<int64_t> ranks, element_bytes;
  std::string dims;
  int64_t next = 0;
  for (const ValueId id : TensorsOf(graph)) {
    const Value& value = graph.values[id];
    ranks.push_back(std::ssize(value.shape));
    element_bytes.push_back(tensor::ByteSize(value.dtype));
    for (size_t d = 0; d < value.shape.size(); ++d) {
      dims +=
          fmt::format("  dims[{}] = {};\n", next++, LengthOf(graph, value, d).ToCode("lengths"));
    }
  }
  return fmt::format(kShape, fmt::arg("shape", shape),
                     fmt::arg("input_bytes", List(plan.input_bytes)),
                     fmt::arg("output_bytes", List(plan.output_bytes)),
                     fmt::arg("ranks", List(ranks)), fmt::arg("element_bytes", List(element_bytes)),
                     fmt::arg("dims", dims), fmt::arg("open", OpenDimensionTable(graph)));
}

/// Sizes, and the inputs whose dimensions are open, where the network has them.
std::string BeginRun(const NetworkPlan& plan) {
  std::string source;
  for (const PlannedSize& size : plan.sizes) {
    source += fmt::format("  *(int64_t*)(arena + {}) = {};\n", size.position,
                          size.length.ToCode("lengths"));
  }
  for (const OpenTensor& tensor : plan.open_inputs) {
    const std::string callers = fmt::format("(const char*)in[{}]", tensor.position);
    source += CopyOpen("bayloom_spread", tensor, callers, Address(tensor.network), callers);
  }
  return source;
}

std::string EndRun(const NetworkPlan& plan) {
  std::string source;
  for (const OpenTensor& tensor : plan.open_outputs) {
    const std::string callers = fmt::format("(char*)out[{}]", tensor.position);
    source += CopyOpen("bayloom_gather", tensor, callers, callers, Address(tensor.network));
  }
  return source;
}

/// The kernel's function, and a table of its steps if it has them.
std::string DeclareKernel(const codegen::KernelObject& kernel) {
  std::string source =
      fmt::format("void {}(void* const* parameters, void* workspace);\n", kernel.symbol);
  if (kernel.steps.empty()) return source;
  std::string table;
  for (const codegen::KernelStep& step : kernel.steps) {
    source += fmt::format("void {}(void* context, int64_t begin, int64_t end, int32_t worker);\n",
                          step.symbol);
    table += fmt::format("{{{}, {}}}, ", step.extent, step.symbol);
  }
  return source + fmt::format("static const bayloom_kernel_step {}_steps[] = {{{}}};\n",
                              kernel.symbol, table);
}

std::string DeclareKernels(const CompiledVariant& compiled) {
  std::set<int> kernels;
  for (const NetworkPlan& plan : compiled.plans) {
    for (const PlannedCall& call : plan.calls) kernels.insert(call.task);
    for (const std::vector<SmallCall>& calls : plan.small_calls) {
      for (const SmallCall& call : calls) {
        if (!call.IsNothing()) kernels.insert(call.call.task);
      }
    }
  }
  std::string source;
  for (const int kernel : kernels) source += DeclareKernel(compiled.kernels[kernel]);
  return source;
}

/// The workspaces of kernels that run at the same time lie one behind the other.
struct WorkspaceBytes {
  int64_t shared = 0, worker = 0;

  /// The same for one kernel more.
  WorkspaceBytes Behind(const codegen::KernelObject& kernel) const {
    return {shared + target::AlignUp(kernel.shared_workspace_bytes),
            worker + target::AlignUp(kernel.worker_workspace_bytes)};
  }
};

/// What every round of the variant finds enough.
WorkspaceBytes LargestWorkspace(const CompiledVariant& compiled) {
  WorkspaceBytes largest;
  for (const NetworkPlan& plan : compiled.plans) {
    for (const std::vector<int>& round : plan.rounds) {
      WorkspaceBytes bytes;
      for (int call : round) bytes = bytes.Behind(compiled.kernels[plan.calls[call].task]);
      for (int call : round) {
        if (plan.small_calls.empty()) break;
        for (const SmallCall& small : plan.small_calls[call]) {
          if (small.IsNothing()) continue;
          const WorkspaceBytes own = WorkspaceBytes().Behind(compiled.kernels[small.call.task]);
          bytes = {std::max(bytes.shared, own.shared), std::max(bytes.worker, own.worker)};
        }
      }
      largest = {std::max(largest.shared, bytes.shared), std::max(largest.worker, bytes.worker)};
    }
  }
  return largest;
}

std::string Parameters(const PlannedCall& call, const std::string& name) {
  std::string source = fmt::format("    void* const {}[] = {{", name);
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    source += (i > 0 ? ", " : "") + Address(call.arguments[i]);
  }
  return source + "};\n";
}

std::string RunCall(const CompiledVariant& compiled, const PlannedCall& call) {
  return fmt::format("  {{\n{}    {}(parameters, workspace);\n  }}\n",
                     Parameters(call, "parameters"), compiled.kernels[call.task].symbol);
}

/// The call, or what runs in its place for small sizes.
std::string RunOneOf(const CompiledVariant& compiled, const NetworkPlan& plan, int call) {
  std::string source;
  if (!plan.small_calls.empty()) {
    for (const SmallCall& small : plan.small_calls[call]) {
      source +=
          fmt::format("  if ({} <= {})\n{}  else\n", small.size.ToCode("lengths"), small.up_to,
                      small.IsNothing() ? "  {}\n" : RunCall(compiled, small.call));
    }
  }
  return source + RunCall(compiled, plan.calls[call]);
}

/// The condition under which the call runs, in C.
std::string RunsIf(const NetworkPlan& plan, int call) {
  if (plan.small_calls.empty() || plan.small_calls[call].empty()) return "1";
  const SmallCall& small = plan.small_calls[call][0];
  if (!small.IsNothing()) return "1";
  return fmt::format("{} > {}", small.size.ToCode("lengths"), small.up_to);
}

/// Runs the calls of a round side by side.
std::string RunRound(const CompiledVariant& compiled, const NetworkPlan& plan,
                     const std::vector<int>& round) {
  std::string parameters, calls;
  WorkspaceBytes before;
  for (size_t i = 0; i < round.size(); ++i) {
    const PlannedCall& call = plan.calls[round[i]];
    const codegen::KernelObject& kernel = compiled.kernels[call.task];
    parameters += Parameters(call, fmt::format("parameters{}", i));
    calls += fmt::format(
        "    if ({}) calls[count++] = (bayloom_kernel_call){{parameters{}, (char*)workspace + {} + "
        "{} "
        "* (int64_t)bayloom_threads(), {}_steps, {}}};\n",
        RunsIf(plan, round[i]), i, before.shared, before.worker, kernel.symbol,
        kernel.steps.size());
    before = before.Behind(kernel);
  }
  return fmt::format(
      "  {{\n{}    bayloom_kernel_call calls[{}];\n    int count = 0;\n{}    if (count > 0) "
      "bayloom_run_together(count, calls);\n  }}\n",
      parameters, round.size(), calls);
}

/// The function that runs a variant's kernels for one shape.
std::string RunFunction(const Graph& graph, const CompiledVariant& compiled, size_t variant,
                        size_t shape) {
  const NetworkPlan& plan = compiled.plans[shape];
  std::string source =
      fmt::format(kRunHead, fmt::arg("variant", variant), fmt::arg("shape", shape));
  source += BeginRun(plan);
  for (const std::vector<int>& round : plan.rounds) {
    source +=
        round.size() == 1 ? RunOneOf(compiled, plan, round[0]) : RunRound(compiled, plan, round);
  }
  for (const PlannedCopy& copy : plan.copies) {
    source +=
        fmt::format("  memcpy(out[{}], {}, {});\n", copy.output, Address(copy.from), copy.bytes);
  }
  return source + LastLogits(graph, plan, Address) + EndRun(plan) + "}\n";
}

/// The functions of a variant, one per shape, and their table.
std::string RunFunctions(std::span<const PackageShape> shapes, const CompiledVariant& compiled,
                         size_t variant) {
  std::string source = DeclareKernels(compiled), table;
  for (size_t shape = 0; shape < compiled.plans.size(); ++shape) {
    source += RunFunction(shapes[shape].network->graph, compiled, variant, shape);
    table += fmt::format("Run{}_{}, ", variant, shape);
  }
  return source + fmt::format("static const bayloom_run kRuns{}[] = {{{}}};\n", variant, table);
}

int64_t LargestStates(std::span<const NetworkPlan> plans) {
  return std::ranges::max_element(plans, {}, &NetworkPlan::state_bytes)->state_bytes;
}

int64_t LargestArena(const CompiledVariant& compiled) {
  int64_t bytes = 0;
  for (const NetworkPlan& plan : compiled.plans) bytes = std::max(bytes, plan.arena_bytes);
  return bytes;
}

/// What a processor lacks that cannot run even the least demanding variant.
std::string ProcessorError(const target::Target& least) {
  return fmt::format("the code needs a processor that has all features of {}: {}",
                     least.name == "native" ? least.cpu : least.name,
                     fmt::join(codegen::RequiredFeatures(least), " "));
}

}  // namespace

std::string KernelPrefix(size_t variant) { return fmt::format("kernel_{}_", variant); }

std::string PackageSource(std::span<const PackageShape> shapes,
                          std::span<const CompiledVariant> variants, const std::string& name,
                          int64_t constant_bytes) {
  const std::vector<NetworkPlan>& plans = variants[0].plans;
  std::string source = fmt::format(kHead, fmt::arg("name", name));
  if (variants[0].IsForGpu()) {
    source += "#include \"bayloom_gpu.h\"\n#include \"bayloom_gpu_model.h\"\n";
  }
  std::string sizes, table;
  int64_t dim_count = 0;
  size_t open_count = 0;
  for (size_t s = 0; s < plans.size(); ++s) {
    const Graph& graph = shapes[s].network->graph;
    source += ShapeTables(graph, plans[s], s);
    sizes += fmt::format(
        "    {{kInputBytes{0}, kOutputBytes{0}, kRanks{0}, kElementBytes{0}, Dims{0}, {1}, "
        "kOpen{0}}},\n",
        s, graph.symbols.size());
    dim_count = std::max(dim_count, DimCount(graph));
    open_count = std::max(open_count, graph.symbols.size());
  }
  for (size_t v = 0; v < variants.size(); ++v) {
    const CompiledVariant& variant = variants[v];
    if (variant.IsForGpu()) {
      source += GpuTables(variant, v, constant_bytes);
      table +=
          fmt::format("    {{{}, \"\", 0, 0, 0, NULL, &bayloom_gpu_accelerator, &kProgram{}}},\n",
                      CString(variant.target.name), v);
      continue;
    }
    source += RunFunctions(shapes, variant, v);
    const WorkspaceBytes workspace = LargestWorkspace(variant);
    table += fmt::format("    {{{}, \"{}\", {}, {}, {}, kRuns{}, NULL, NULL}},\n",
                         CString(variant.target.name),
                         fmt::join(codegen::RequiredFeatures(variant.target), ","),
                         LargestArena(variant), workspace.shared, workspace.worker, v);
  }
  const std::optional<PackagedDecoder> decoder = DecoderOf(shapes);
  if (decoder) source += DecoderTables(*decoder, plans[0].states);
  return source +
         fmt::format(kTail, fmt::arg("name", name), fmt::arg("shapes", sizes),
                     fmt::arg("shape_count", plans.size()), fmt::arg("dim_count", dim_count),
                     fmt::arg("open_count", open_count),
                     fmt::arg("state_bytes", LargestStates(plans)),
                     fmt::arg("decoder", decoder ? "&kDecoder" : "NULL"),
                     fmt::arg("variants", table), fmt::arg("variant_count", variants.size()),
                     fmt::arg("inputs", plans[0].input_bytes.size()),
                     fmt::arg("outputs", plans[0].output_bytes.size()),
                     fmt::arg("processor_error", CString(ProcessorError(variants.back().target))),
                     fmt::arg("size_error", CString(SizeErrorText(shapes))),
                     fmt::arg("constant_bytes", constant_bytes),
                     fmt::arg("description", CString(PackageDescription(shapes, name)))) +
         (decoder ? DecoderFunctions(name) : "");
}

std::string ConstantsAssembly(const std::string& file) {
  return fmt::format(
      "  .section .rodata\n  .balign {}\n  .globl bayloom_constants\nbayloom_constants:\n"
      "  .incbin {}\n  .byte 0\n  .section .note.GNU-stack,\"\",%progbits\n",
      target::kBufferAlignment, CString(file));
}

std::string VersionScript(std::span<const PackageShape> shapes, const std::string& name) {
  return fmt::format(
      "{{\n  global: {0}_create; {0}_destroy; {0}_run; {0}_set_threads; {0}_error_text; "
      "{0}_target; {0}_description;{1}\n  local: *;\n}};\n",
      name,
      DecoderOf(shapes) ? fmt::format(" {0}_step; {0}_length; {0}_rewind; {0}_copy;", name) : "");
}

}  // namespace bayloom::graph
