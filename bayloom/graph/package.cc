// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/package.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "bayloom/base/file.h"
#include "bayloom/base/one_line.h"
#include "bayloom/base/run_command.h"
#include "bayloom/base/scratch_folder.h"
#include "bayloom/base/system_error.h"
#include "bayloom/codegen/cpu_features.h"
#include "bayloom/graph/executor.h"
#include "bayloom/graph/internal/c_names.h"
#include "bayloom/graph/internal/package_source.h"
#include "bayloom/tensor/library_call.h"

namespace bayloom::graph {

// Texts of the runtime, compiled in at build time.
extern const char kRuntimeSource[];
extern const char kRuntimeHeader[];
extern const char kCpuSource[];
extern const char kCpuHeader[];
extern const char kModelSource[];
extern const char kModelHeader[];
extern const char kPackageHeader[];
extern const char kKernelsHeader[];
extern const char kElementsHeader[];
extern const char kArgExtremeSource[];
extern const char kScanSource[];
extern const char kScatterSource[];
extern const char kTopKSource[];

namespace {

namespace fs = std::filesystem;

std::string CompilerProgram() {
  const char* chosen = std::getenv("CC");
  const std::string program = chosen != nullptr && *chosen != '\0' ? chosen : "cc";
  return program.find('/') == std::string::npos ? program : fs::absolute(program).string();
}

/// The compiler runs in the folder, so that no argument contains a path that it might misread.
void RunCompiler(const std::string& folder, std::vector<std::string> arguments) {
  const std::string compiler = CompilerProgram();
  arguments.insert(arguments.begin(), compiler);
  base::Command command;
  command.arguments = std::move(arguments);
  command.directory = folder;
  const base::CommandResult result = base::RunCommand(command);
  if (result.end == base::CommandResult::End::kNotStarted) {
    throw InputError(fmt::format("linking needs a C compiler: {} (set CC)", result.start_error));
  }
  if (!result.status.Success()) {
    throw SystemError(fmt::format("the C compiler {} failed with {}: {}", compiler,
                                  result.status.Describe(), base::LastLine(result.error_output)));
  }
}

/// The constants of all variants; what is equal is there once.
class ConstantPool {
 public:
  /// Moves the plan's constants into the pool.
  void Take(NetworkPlan& plan) {
    std::set<int64_t> begins;
    ForEachConstant(plan, [&](Storage& storage) { begins.insert(storage.position); });
    std::map<int64_t, int64_t> moved;
    const auto end = static_cast<int64_t>(plan.constants.size());
    for (auto begin = begins.begin(); begin != begins.end(); ++begin) {
      const auto next = std::next(begin);
      const int64_t bytes = (next == begins.end() ? end : *next) - *begin;
      moved[*begin] = Add({reinterpret_cast<const char*>(plan.constants.data()) + *begin,
                           static_cast<size_t>(bytes)});
    }
    ForEachConstant(plan, [&](Storage& storage) { storage.position = moved.at(storage.position); });
    plan.constants.clear();
  }

  const std::string& content() const { return content_; }

 private:
  template <typename Action>
  static void ForEachConstant(NetworkPlan& plan, const Action& action) {
    const auto visit = [&](Storage& storage) {
      if (storage.kind == Storage::Kind::kConstant) action(storage);
    };
    for (PlannedCall& call : plan.calls) {
      for (Storage& argument : call.arguments) visit(argument);
    }
    for (PlannedCopy& copy : plan.copies) visit(copy.from);
  }

  /// The position of these bytes.
  int64_t Add(std::string_view bytes) {
    const auto [first, last] = positions_.equal_range(std::hash<std::string_view>()(bytes));
    for (auto it = first; it != last; ++it) {
      if (content_.compare(it->second, bytes.size(), bytes) == 0) {
        return static_cast<int64_t>(it->second);
      }
    }
    const size_t position = content_.size();
    positions_.emplace(std::hash<std::string_view>()(bytes), position);
    content_.append(bytes);
    return static_cast<int64_t>(position);
  }

  std::string content_;
  std::multimap<size_t, size_t> positions_;  // by hash
};

std::vector<PackageVariant> MostDemandingFirst(std::span<const PackageVariant> variants) {
  std::vector<PackageVariant> ordered(variants.begin(), variants.end());
  const auto demand = [](const PackageVariant& variant) {
    return std::tuple(variant.target.vector_bytes,
                      codegen::RequiredFeatures(variant.target).size());
  };
  std::stable_sort(
      ordered.begin(), ordered.end(),
      [&](const PackageVariant& a, const PackageVariant& b) { return demand(a) > demand(b); });
  return ordered;
}

/// Compiles a variant; its objects' names in the folder are added to `objects`.
CompiledVariant CompileVariant(const TaskGraph& network, const PackageVariant& variant,
                               size_t number, const base::ScratchFolder& scratch,
                               std::vector<std::string>& objects) {
  CompiledVariant compiled;
  compiled.target = codegen::ShippedTarget(variant.target);
  compiled.plan = PlanNetwork(network, variant.programs);
  const std::string prefix = KernelPrefix(number);
  const std::vector<codegen::KernelObject> kernels =
      CompileTasks(network, variant.programs, compiled.target, prefix);
  for (size_t task = 0; task < kernels.size(); ++task) {
    objects.push_back(fmt::format("{}{}.o", prefix, task));
    scratch.Write(objects.back(), kernels[task].object);
    compiled.shared_workspace_bytes =
        std::max(compiled.shared_workspace_bytes, kernels[task].shared_workspace_bytes);
    compiled.worker_workspace_bytes =
        std::max(compiled.worker_workspace_bytes, kernels[task].worker_workspace_bytes);
  }
  return compiled;
}

/// The text after the lines of the licence, which are for the source tree.
std::string_view CommonHeader() {
  const std::string_view text = kPackageHeader;
  return text.substr(text.find("#ifndef"));
}

void WriteRuntime(const base::ScratchFolder& scratch) {
  scratch.Write("bayloom_runtime.h", kRuntimeHeader);
  scratch.Write("bayloom_runtime.c", kRuntimeSource);
  scratch.Write("bayloom_cpu.h", kCpuHeader);
  scratch.Write("bayloom_cpu.c", kCpuSource);
  scratch.Write("bayloom_model.h", kModelHeader);
  scratch.Write("bayloom_model.c", kModelSource);
  scratch.Write("bayloom_package.h", kPackageHeader);
}

/// Kernels of the library, where the network calls some. Returns what is to be compiled.
std::vector<std::string> WriteLibrary(const TaskGraph& network,
                                      const base::ScratchFolder& scratch) {
  const bool calls = std::ranges::any_of(
      network.tasks, [](const GraphTask& task) { return tensor::IsCall(task.workload); });
  if (!calls) return {};
  scratch.Write("bayloom_kernels.h", kKernelsHeader);
  scratch.Write("bayloom_elements.h", kElementsHeader);
  std::vector<std::string> sources;
  for (const auto& [name, text] : {std::pair("bayloom_arg_extreme.c", kArgExtremeSource),
                                   {"bayloom_scan.c", kScanSource},
                                   {"bayloom_scatter.c", kScatterSource},
                                   {"bayloom_topk.c", kTopKSource}}) {
    scratch.Write(name, text);
    sources.emplace_back(name);
  }
  return sources;
}

/// The code around the kernels runs on every processor of the kind: it says which lack something.
std::vector<std::string> CompilerArguments(const target::Target& target) {
  std::vector<std::string> arguments = {"-shared", "-fPIC", "-O2", "-std=gnu11", "-pthread"};
  if (target.triple.starts_with("x86_64")) {
    arguments.insert(arguments.end(), {"-march=x86-64", "-mtune=generic"});
  }
  return arguments;
}

}  // namespace

Package WritePackage(const TaskGraph& network, std::span<const PackageVariant> variants,
                     const std::string& directory, const std::string& name) {
  if (const std::optional<std::string> reason = WhyNotAPackageName(name)) {
    throw InputError(fmt::format("'{}' cannot be a library's name: {}; try '{}'",
                                 base::InOneLine(name), *reason, ToPackageName(name)));
  }
  base::CreateFolder(directory);
  const base::ScratchFolder scratch(directory);
  std::vector<std::string> arguments = CompilerArguments(variants[0].target);
  std::vector<CompiledVariant> compiled;
  ConstantPool constants;
  for (const PackageVariant& variant : MostDemandingFirst(variants)) {
    compiled.push_back(CompileVariant(network, variant, compiled.size(), scratch, arguments));
    constants.Take(compiled.back().plan);
  }
  const std::string header =
      scratch.Write(name + ".h", PackageHeader(network, compiled, name, CommonHeader()));
  WriteRuntime(scratch);
  scratch.Write("constants.bin", constants.content());
  scratch.Write("constants.s", ConstantsAssembly("constants.bin"));
  scratch.Write("bayloom_network.c", PackageSource(compiled, name));
  scratch.Write("visible", VersionScript(name));
  arguments.insert(arguments.end(),
                   {"bayloom_runtime.c", "bayloom_cpu.c", "bayloom_model.c", "bayloom_network.c",
                    "constants.s", "-Wl,--version-script=visible"});
  for (std::string& source : WriteLibrary(network, scratch)) arguments.push_back(std::move(source));
  const std::string library = fmt::format("lib{}.so", name);
  // The thread pool's workers outlive a dlclose, so the code must not be unmapped by one.
  arguments.insert(arguments.end(), {"-Wl,-z,nodelete", "-lm", "-o", library});
  RunCompiler(scratch.path(), std::move(arguments));

  Package package;
  package.library = (fs::path(directory) / library).string();
  package.header = (fs::path(directory) / (name + ".h")).string();
  base::MoveFile(scratch / library, package.library);
  base::MoveFile(header, package.header);
  return package;
}

}  // namespace bayloom::graph
