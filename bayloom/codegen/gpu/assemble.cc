// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/gpu/assemble.h"

#include <algorithm>
#include <array>
#include <regex>

#include "bayloom/base/file.h"
#include "bayloom/base/run_command.h"
#include "bayloom/base/scratch_folder.h"

namespace bayloom::codegen {
namespace {

constexpr const char* kAssembler = "ptxas";
constexpr double kTimeoutSeconds = 60;

base::CommandResult RunAssembler(std::vector<std::string> arguments) {
  base::Command command;
  command.arguments = std::move(arguments);
  command.arguments.insert(command.arguments.begin(), kAssembler);
  command.timeout_seconds = kTimeoutSeconds;
  return base::RunCommand(command);
}

/// Lines of `ptxas -v`, such as
///
///     ptxas info    : Compiling entry function 'f_0' for 'sm_90'
///         0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
///     ptxas info    : Used 40 registers, used 1 barriers, 384 bytes cmem[0]
std::vector<AssembledKernel> ParseReport(const std::string& report) {
  static const std::regex pattern(
      "Compiling entry function '([^']+)'|(\\d+) bytes stack frame, (\\d+) bytes spill stores, "
      "(\\d+) bytes spill loads|Used (\\d+) registers");
  std::vector<AssembledKernel> kernels;
  for (std::sregex_iterator at(report.begin(), report.end(), pattern), end; at != end; ++at) {
    const std::smatch& match = *at;
    if (match[1].matched) kernels.push_back({match[1].str()});
    if (kernels.empty()) continue;
    AssembledKernel& kernel = kernels.back();
    if (match[2].matched) {
      kernel.stack_bytes = std::stoll(match[2].str());
      kernel.spill_bytes = std::stoll(match[3].str()) + std::stoll(match[4].str());
    }
    if (match[5].matched) kernel.registers = std::stoi(match[5].str());
  }
  return kernels;
}

}  // namespace

bool HasAssembler() {
  static const bool found = RunAssembler({"--version"}).end == base::CommandResult::End::kExited;
  return found;
}

Result<AssembledProgram> Assemble(const std::string& ptx, const std::string& architecture) {
  const base::ScratchFolder folder;
  const std::string cubin = folder / "kernels.cubin";
  const base::CommandResult result =
      RunAssembler({"-v", "-arch=" + architecture, folder.Write("kernels.ptx", ptx), "-o", cubin});
  if (result.end == base::CommandResult::End::kNotStarted) {
    return Error{"there is no ptxas, the assembler of the CUDA toolkit: " + result.start_error};
  }
  if (result.end != base::CommandResult::End::kExited || !result.status.Success()) {
    return Error{"ptxas: " + base::LastLine(result.output + result.error_output)};
  }
  AssembledProgram program{base::ReadFile(cubin), ParseReport(result.output + result.error_output)};
  // The report begins with the last one.
  std::ranges::sort(program.kernels, {}, [&](const AssembledKernel& kernel) {
    return ptx.find(".entry " + kernel.symbol + "(");
  });
  return program;
}

}  // namespace bayloom::codegen
