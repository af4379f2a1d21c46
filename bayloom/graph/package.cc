// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/package.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>

#include "bayloom/base/file.h"
#include "bayloom/base/run_command.h"
#include "bayloom/base/scratch_folder.h"
#include "bayloom/base/system_error.h"
#include "bayloom/graph/executor.h"
#include "bayloom/graph/internal/package_source.h"

namespace bayloom::graph {

// Texts of the runtime, compiled in at build time.
extern const char kRuntimeSource[];
extern const char kRuntimeHeader[];

namespace {

namespace fs = std::filesystem;

void RunCompiler(std::vector<std::string> arguments) {
  const char* chosen = std::getenv("CC");
  const std::string compiler = chosen != nullptr && *chosen != '\0' ? chosen : "cc";
  arguments.insert(arguments.begin(), compiler);
  base::Command command;
  command.arguments = std::move(arguments);
  const base::CommandResult result = base::RunCommand(command);
  if (result.end == base::CommandResult::End::kNotStarted) {
    throw InputError(fmt::format("linking needs a C compiler: {} (set CC)", result.start_error));
  }
  if (!result.status.Success()) {
    throw SystemError(fmt::format("the C compiler {} failed with {}: {}", compiler,
                                  result.status.Describe(), base::LastLine(result.error_output)));
  }
}

bool IsIdentifier(const std::string& name) { return !name.empty() && ToIdentifier(name) == name; }

}  // namespace

std::string ToIdentifier(const std::string& text) {
  std::string name;
  for (char c : text) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) name = "_" + name;
  return name;
}

Package WritePackage(const TaskGraph& network, const std::vector<const tensor::Program*>& programs,
                     const target::Target& target, const std::string& directory,
                     const std::string& name) {
  if (!IsIdentifier(name)) {
    throw InputError(fmt::format("'{}' is no C identifier: try '{}'", name, ToIdentifier(name)));
  }
  base::CreateFolder(directory);
  const base::ScratchFolder scratch(directory);

  const NetworkPlan plan = PlanNetwork(network, programs);
  const std::vector<codegen::KernelObject> kernels = CompileTasks(network, programs, target);
  int64_t shared_bytes = 0, worker_bytes = 0;
  std::vector<std::string> arguments = {"-shared", "-fPIC", "-O2", "-std=gnu11", "-pthread"};
  for (size_t task = 0; task < kernels.size(); ++task) {
    arguments.push_back(scratch.Write(fmt::format("kernel_{}.o", task), kernels[task].object));
    shared_bytes = std::max(shared_bytes, kernels[task].shared_workspace_bytes);
    worker_bytes = std::max(worker_bytes, kernels[task].worker_workspace_bytes);
  }
  const std::string constants =
      scratch.Write("constants.bin",
                    {reinterpret_cast<const char*>(plan.constants.data()), plan.constants.size()});
  const std::string header = scratch.Write(name + ".h", PackageHeader(network, name));
  scratch.Write("bayloom_runtime.h", kRuntimeHeader);
  arguments.push_back(scratch.Write("bayloom_runtime.c", kRuntimeSource));
  arguments.push_back(scratch.Write("constants.s", ConstantsAssembly(constants, name)));
  arguments.push_back(
      scratch.Write(name + ".c", PackageSource(plan, name, shared_bytes, worker_bytes)));
  arguments.push_back("-Wl,--version-script=" + scratch.Write("visible", VersionScript(name)));
  const std::string library = scratch / fmt::format("lib{}.so", name);
  // The thread pool's workers outlive a dlclose, so the code must not be unmapped by one.
  arguments.insert(arguments.end(), {"-Wl,-z,nodelete", "-lm", "-o", library});
  RunCompiler(std::move(arguments));

  Package package;
  package.library = (fs::path(directory) / fmt::format("lib{}.so", name)).string();
  package.header = (fs::path(directory) / (name + ".h")).string();
  base::MoveFile(library, package.library);
  base::MoveFile(header, package.header);
  return package;
}

}  // namespace bayloom::graph
