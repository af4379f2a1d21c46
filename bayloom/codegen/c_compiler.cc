// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/c_compiler.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "bayloom/base/result.h"
#include "bayloom/base/run_command.h"
#include "bayloom/base/system_error.h"
#include "bayloom/codegen/host.h"

namespace bayloom::codegen {
namespace {

using target::TargetKind;

/// The program that CC names; empty: none.
std::string ChosenCompiler() {
  const char* chosen = std::getenv("CC");
  const std::string program = chosen != nullptr ? chosen : "";
  const bool is_path = program.find('/') != std::string::npos;
  return is_path ? std::filesystem::absolute(program).string() : program;
}

/// False also where it cannot be run.
bool MakesCodeFor(const std::string& compiler, TargetKind kind) {
  base::Command command;
  command.arguments = {compiler, "-dumpmachine"};
  const base::CommandResult result = base::RunCommand(command);
  return result.end == base::CommandResult::End::kExited && result.status.Success() &&
         result.output.starts_with(target::ToString(kind));
}

std::string CompilerFor(TargetKind kind) {
  const std::string chosen = ChosenCompiler();
  if (kind == HostKind()) return chosen.empty() ? "cc" : chosen;
  if (!chosen.empty() && MakesCodeFor(chosen, kind)) return chosen;
  return fmt::format("{}-linux-gnu-gcc", target::ToString(kind));
}

/// What gives a machine the compiler: "set CC".
std::string Remedy(TargetKind kind) {
  if (kind == HostKind()) return "set CC";
  return fmt::format(
      "install Debian's {} and a C library for it, {}, or set CC to a compiler for {}",
      kind == TargetKind::kAArch64 ? "gcc-aarch64-linux-gnu" : "gcc-x86-64-linux-gnu",
      kind == TargetKind::kAArch64 ? "libc6-dev-arm64-cross" : "libc6-dev-amd64-cross",
      target::ToString(kind));
}

/// The code around the kernels runs on every processor of the kind: it says which lack something.
std::vector<std::string> PortableCode(TargetKind kind) {
  switch (kind) {
    case TargetKind::kX86_64:
      return {"-march=x86-64", "-mtune=generic"};
    case TargetKind::kAArch64:
      return {"-march=armv8-a"};
    case TargetKind::kNvidiaGpu:
    case TargetKind::kOtherCpu:
      break;
  }
  return {};
}

}  // namespace

void RunCompiler(TargetKind kind, const std::string& folder,
                 const std::vector<std::string>& arguments) {
  base::Command command;
  command.arguments = PortableCode(kind);
  command.arguments.insert(command.arguments.begin(), CompilerFor(kind));
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  command.directory = folder;
  const base::CommandResult result = base::RunCommand(command);
  if (result.end == base::CommandResult::End::kNotStarted) {
    throw InputError(fmt::format("linking for {} needs a C compiler: {} ({})",
                                 target::ToString(kind), result.start_error, Remedy(kind)));
  }
  if (!result.status.Success()) {
    throw SystemError(fmt::format("the C compiler {} failed with {}: {}", command.arguments[0],
                                  result.status.Describe(), base::LastLine(result.error_output)));
  }
}

}  // namespace bayloom::codegen
