// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/internal/package_source.h"

#include <fmt/format.h>

#include <set>

#include "bayloom/base/version.h"
#include "bayloom/codegen/abi.h"

namespace bayloom::graph {
namespace {

std::string DescribeValue(const Value& value) {
  return fmt::format("\"{}\", {}, {} bytes", value.name, ToString(value.dtype, value.shape),
                     value.ElementCount() * tensor::ByteSize(value.dtype));
}

/// The address of an argument as a C expression.
std::string Address(const Storage& storage) {
  switch (storage.kind) {
    case Storage::Kind::kInput:
      return fmt::format("(void*)in[{}]", storage.position);
    case Storage::Kind::kOutput:
      return fmt::format("out[{}]", storage.position);
    case Storage::Kind::kArena:
      return fmt::format("model->arena + {}", storage.position);
    case Storage::Kind::kConstant:
      break;
  }
  return fmt::format("(void*)(constants + {})", storage.position);
}

constexpr char kSourceHead[] = R"(#include "{name}.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bayloom_runtime.h"

enum {{ kInputs = {inputs}, kOutputs = {outputs}, kAlignment = {alignment} }};
static const int64_t kArenaBytes = {arena};
static const int64_t kSharedBytes = {shared};
static const int64_t kWorkerBytes = {worker};
static const int64_t kInputBytes[] = {{{input_bytes}}};
static const int64_t kOutputBytes[] = {{{output_bytes}}};
extern const char {name}_constants[];

struct {name} {{
  char* arena;
  char* workspace;
  int workspace_threads;
  void* input_copies[kInputs + 1];
  void* output_copies[kOutputs + 1];
}};

static void* Allocate(int64_t bytes) {{ return aligned_alloc(kAlignment, (size_t)(bytes / kAlignment + 1) * kAlignment); }}
static int IsAligned(const void* memory) {{ return (uintptr_t)memory % kAlignment == 0; }}

static int PrepareWorkspace({name}* model) {{
  const int threads = bayloom_threads();
  if (model->workspace != NULL && threads <= model->workspace_threads) return 1;
  free(model->workspace);
  model->workspace = Allocate(kSharedBytes + threads * kWorkerBytes);
  model->workspace_threads = threads;
  return model->workspace != NULL;
}}

{name}* {name}_create(void) {{
  {name}* model = calloc(1, sizeof(*model));
  if (model == NULL) return NULL;
  int ok = (model->arena = Allocate(kArenaBytes)) != NULL;
  for (int i = 0; i < kInputs; ++i) ok &= (model->input_copies[i] = Allocate(kInputBytes[i])) != NULL;
  for (int i = 0; i < kOutputs; ++i) ok &= (model->output_copies[i] = Allocate(kOutputBytes[i])) != NULL;
  if (ok && PrepareWorkspace(model)) return model;
  {name}_destroy(model);
  return NULL;
}}

void {name}_destroy({name}* model) {{
  if (model == NULL) return;
  for (int i = 0; i < kInputs; ++i) free(model->input_copies[i]);
  for (int i = 0; i < kOutputs; ++i) free(model->output_copies[i]);
  free(model->workspace);
  free(model->arena);
  free(model);
}}

void {name}_set_threads(int threads) {{ bayloom_set_threads(threads); }}

)";

constexpr char kRunHead[] = R"(
int {name}_run({name}* model, const void* const* inputs, void* const* outputs) {{
  const char* constants = {name}_constants;
  const void* in[kInputs + 1];
  void* out[kOutputs + 1];
  if (!PrepareWorkspace(model)) return 1;
  for (int i = 0; i < kInputs; ++i) {{
    in[i] = inputs[i];
    if (!IsAligned(in[i])) in[i] = memcpy(model->input_copies[i], inputs[i], (size_t)kInputBytes[i]);
  }}
  for (int i = 0; i < kOutputs; ++i) out[i] = IsAligned(outputs[i]) ? outputs[i] : model->output_copies[i];
  (void)constants;
)";

constexpr char kRunTail[] = R"(  for (int i = 0; i < kOutputs; ++i) {
    if (out[i] != outputs[i]) memcpy(outputs[i], out[i], (size_t)kOutputBytes[i]);
  }
  return 0;
}
)";

/// Initializer lists may not be empty in C.
std::string List(const std::vector<int64_t>& values) {
  std::string text;
  for (int64_t v : values) text += fmt::format("{}, ", v);
  return text + "0";
}

}  // namespace

std::string PackageHeader(const TaskGraph& network, const std::string& name) {
  const Graph& graph = network.graph;
  std::string inputs, outputs;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    inputs +=
        fmt::format(" *   inputs[{}]   {}\n", i, DescribeValue(graph.values[graph.inputs[i]]));
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    Value value = graph.values[graph.outputs[i].value];
    value.name = graph.outputs[i].name;
    outputs += fmt::format(" *   outputs[{}]  {}\n", i, DescribeValue(value));
  }
  return fmt::format(R"(/* {name}: a network compiled by Bayloom {version}.
 *
 * Tensors are dense and row-major:
{inputs}{outputs} *
 * Buffers aligned to {alignment} bytes are used in place, others are copied. */
#ifndef BAYLOOM_PACKAGE_{name}_H_
#define BAYLOOM_PACKAGE_{name}_H_

#ifdef __cplusplus
extern "C" {{
#endif

/* A network with the memory it works in: use one per thread that calls it. */
typedef struct {name} {name};

/* NULL if there is not enough memory. */
{name}* {name}_create(void);
void {name}_destroy({name}* model);

/* Computes the outputs. 0 if it worked, 1 if there was not enough memory. */
int {name}_run({name}* model, const void* const* inputs, void* const* outputs);

/* Threads of parallel loops; 0 means the environment variable BAYLOOM_THREADS, else all. */
void {name}_set_threads(int threads);

#ifdef __cplusplus
}}
#endif

#endif
)",
                     fmt::arg("name", name), fmt::arg("version", base::Version()),
                     fmt::arg("alignment", codegen::kBufferAlignment), fmt::arg("inputs", inputs),
                     fmt::arg("outputs", outputs));
}

std::string PackageSource(const NetworkPlan& plan, const std::string& name, int64_t shared_bytes,
                          int64_t worker_bytes) {
  std::string source = fmt::format(
      kSourceHead, fmt::arg("name", name), fmt::arg("alignment", codegen::kBufferAlignment),
      fmt::arg("inputs", plan.input_bytes.size()), fmt::arg("outputs", plan.output_bytes.size()),
      fmt::arg("arena", plan.arena_bytes), fmt::arg("shared", shared_bytes),
      fmt::arg("worker", worker_bytes), fmt::arg("input_bytes", List(plan.input_bytes)),
      fmt::arg("output_bytes", List(plan.output_bytes)));
  std::set<int> tasks;
  for (const PlannedCall& call : plan.calls) tasks.insert(call.task);
  for (int task : tasks) {
    source += fmt::format("void kernel_{}(void* const* parameters, void* workspace);\n", task);
  }
  source += fmt::format(kRunHead, fmt::arg("name", name));
  for (const PlannedCall& call : plan.calls) {
    source += "  {\n    void* const parameters[] = {";
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      source += (i > 0 ? ", " : "") + Address(call.arguments[i]);
    }
    source += fmt::format("}};\n    kernel_{}(parameters, model->workspace);\n  }}\n", call.task);
  }
  for (const PlannedCopy& copy : plan.copies) {
    source +=
        fmt::format("  memcpy(out[{}], {}, {});\n", copy.output, Address(copy.from), copy.bytes);
  }
  return source + kRunTail;
}

std::string ConstantsAssembly(const std::string& file, const std::string& name) {
  return fmt::format(
      "  .section .rodata\n  .balign {2}\n  .globl {0}_constants\n{0}_constants:\n"
      "  .incbin \"{1}\"\n  .byte 0\n  .section .note.GNU-stack,\"\",%progbits\n",
      name, file, codegen::kBufferAlignment);
}

std::string VersionScript(const std::string& name) {
  return fmt::format(
      "{{\n  global: {0}_create; {0}_destroy; {0}_run; {0}_set_threads;\n  local: *;\n}};\n", name);
}

}  // namespace bayloom::graph
