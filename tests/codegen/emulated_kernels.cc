// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/codegen/emulated_kernels.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "bayloom/base/file.h"
#include "bayloom/codegen/compile.h"
#include "tests/execute.h"

namespace bayloom::testing {
namespace {

constexpr int kKernelThreads = 2;

void AppendNumber(std::string& bytes, int64_t number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

}  // namespace

std::string EmulatedKernels::ObjectName(size_t kernel) const {
  return "kernel_" + std::to_string(kernel);
}

void EmulatedKernels::Add(const tensor::Program& program,
                          const std::vector<tensor::HostTensor>& arguments,
                          const target::Target& target) {
  const std::string name = ObjectName(kernels_.size());
  const Result<codegen::KernelObject> object = codegen::CompileProgram(program, target, name);
  ASSERT_TRUE(object.ok()) << object.error().message;
  base::WriteFile(folder_ / (name + ".o"), object->object);
  kernels_.push_back({program, arguments, object->WorkspaceBytes(kKernelThreads)});
}

void EmulatedKernels::WriteTable() const {
  std::string declarations = "typedef void (*Kernel)(void* const* parameters, void* workspace);\n";
  std::string table = "extern const Kernel kKernels[];\nconst Kernel kKernels[] = {";
  for (size_t k = 0; k < kernels_.size(); ++k) {
    declarations += "void " + ObjectName(k) + "(void* const* parameters, void* workspace);\n";
    table += ObjectName(k) + ", ";
  }
  table += "};\nextern const int kKernelCount;\nconst int kKernelCount = " +
           std::to_string(kernels_.size()) + ";\n";
  base::WriteFile(folder_ / "table.c", declarations + table);
}

void EmulatedKernels::WriteInput() const {
  std::string input;
  for (const Kernel& kernel : kernels_) {
    const std::vector<tensor::BufferId> parameters = kernel.program.Parameters();
    AppendNumber(input, kernel.workspace_bytes);
    AppendNumber(input, std::ssize(parameters));
    for (size_t p = 0; p < parameters.size(); ++p) {
      const tensor::Buffer& buffer = kernel.program.buffers[parameters[p]];
      const std::vector<std::byte> packed =
          tensor::PackLayout(buffer, kernel.arguments[p].data.data());
      AppendNumber(input, buffer.role == tensor::BufferRole::kOutput ? 1 : 0);
      AppendNumber(input, std::ssize(packed));
      input.append(reinterpret_cast<const char*>(packed.data()), packed.size());
    }
  }
  base::WriteFile(folder_ / "input", input);
}

bool EmulatedKernels::Link() const {
  const std::filesystem::path sources = BAYLOOM_TEST_SOURCES;
  const std::filesystem::path runtime = sources / "bayloom/codegen/runtime";
  std::vector<std::string> arguments = {
      "aarch64-linux-gnu-gcc",
      "-static",
      "-O1",
      "-std=gnu11",
      "-pthread",
      "-I",
      runtime.string(),
      "-o",
      "program",
      "table.c",
      (sources / "tests/codegen/emulated/run_kernels.c").string()};
  for (const char* name : {"runtime", "arg_extreme", "scan", "scatter", "topk"}) {
    arguments.push_back((runtime / ("bayloom_" + std::string(name) + ".c")).string());
  }
  for (size_t k = 0; k < kernels_.size(); ++k) arguments.push_back(ObjectName(k) + ".o");
  arguments.emplace_back("-lm");
  const base::CommandResult linked = Execute(arguments, folder_.path());
  EXPECT_TRUE(Succeeded(linked)) << Describe(linked);
  return Succeeded(linked);
}

std::vector<std::vector<tensor::HostTensor>> EmulatedKernels::Run(const std::string& processor) {
  WriteTable();
  WriteInput();
  if (!Link()) return {};
  const base::CommandResult run =
      Execute({"qemu-aarch64", "-cpu", processor, folder_ / "program",
               std::to_string(kKernelThreads), folder_ / "input", folder_ / "output"});
  EXPECT_TRUE(Succeeded(run)) << Describe(run);
  if (!Succeeded(run)) return {};
  const std::string output = base::ReadFile(folder_ / "output");
  std::vector<std::vector<tensor::HostTensor>> results;
  size_t position = 0;
  for (const Kernel& kernel : kernels_) {
    std::vector<tensor::HostTensor>& arguments = results.emplace_back(kernel.arguments);
    const std::vector<tensor::BufferId> parameters = kernel.program.Parameters();
    for (size_t p = 0; p < parameters.size(); ++p) {
      if (kernel.program.buffers[parameters[p]].role != tensor::BufferRole::kOutput) continue;
      const size_t bytes = arguments[p].data.size();
      EXPECT_LE(position + bytes, output.size());
      if (position + bytes > output.size()) return {};
      std::memcpy(arguments[p].data.data(), output.data() + position, bytes);
      position += bytes;
    }
  }
  EXPECT_EQ(position, output.size());
  return results;
}

}  // namespace bayloom::testing
