// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/package.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "bayloom/base/file.h"
#include "bayloom/base/scratch_folder.h"
#include "bayloom/base/single_line.h"
#include "bayloom/codegen/c_compiler.h"
#include "bayloom/codegen/cpu_features.h"
#include "bayloom/codegen/host.h"
#include "bayloom/graph/executor.h"
#include "bayloom/graph/package/c_names.h"
#include "bayloom/graph/package/constant_file.h"
#include "bayloom/graph/package/gpu_package_source.h"
#include "bayloom/graph/package/package_source.h"
#include "bayloom/graph/tasks/shared_forms.h"
#include "bayloom/tensor/library_call.h"

namespace bayloom::graph {

// Texts of the runtime, compiled in at build time.
extern const char kRuntimeSource[];
extern const char kRuntimeHeader[];
extern const char kCpuSource[];
extern const char kCpuHeader[];
extern const char kCpuFeaturesHeader[];
extern const char kCudaSource[];
extern const char kCudaHeader[];
extern const char kGpuSource[];
extern const char kGpuHeader[];
extern const char kGpuModelSource[];
extern const char kGpuModelHeader[];
extern const char kModelSource[];
extern const char kModelDataHeader[];
extern const char kDecoderSource[];
extern const char kDecoderHeader[];
extern const char kOpenSource[];
extern const char kOpenHeader[];
extern const char kHugePagesSource[];
extern const char kHugePagesHeader[];
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

/// Positions of the variants; what asks most of a processor comes first.
std::vector<size_t> MostDemandingFirst(std::span<const PackageVariant> variants) {
  std::vector<size_t> order(variants.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto demand = [&](size_t variant) {
    const target::Target& target = variants[variant].target;
    return std::tuple(target.vector_bytes, codegen::RequiredFeatures(target).size());
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return demand(a) > demand(b); });
  return order;
}

/// The programs of all shapes for one target, each once.
class KernelPool {
 public:
  /// Moves the calls of a plan from its network's tasks to the kernels here.
  void Take(const TaskGraph& network, const std::vector<const tensor::Program*>& programs,
            std::span<const SmallProgram> small, NetworkPlan& plan) {
    std::vector<int> kernel_of;
    for (size_t task = 0; task < programs.size(); ++task) {
      kernel_of.push_back(KernelOf(network.tasks[task].workload, *programs[task]));
    }
    for (const SmallProgram& program : small) {
      kernel_of.push_back(KernelOf(network.tasks[program.task].workload, *program.program));
    }
    for (PlannedCall& call : plan.calls) call.task = kernel_of[call.task];
    for (std::vector<SmallCall>& calls : plan.small_calls) {
      for (SmallCall& call : calls) {
        if (!call.IsNothing()) call.call.task = kernel_of[call.call.task];
      }
    }
    const std::vector<bool> here = plan.TasksSideBySide(programs_.size());
    side_by_side_.resize(programs_.size());
    for (size_t kernel = 0; kernel < here.size(); ++kernel) {
      if (here[kernel]) side_by_side_[kernel] = true;
    }
  }

  const std::vector<const tensor::Program*>& programs() const { return programs_; }
  /// Parallel to programs(): whether they run beside others in any of the shapes.
  const std::vector<bool>& side_by_side() const { return side_by_side_; }

 private:
  int KernelOf(const tensor::Workload& workload, const tensor::Program& program) {
    const std::pair key(workload.StructuralHash(), program.StructuralHash());
    const auto [kernel, is_new] = known_.emplace(key, static_cast<int>(programs_.size()));
    if (is_new) programs_.push_back(&program);
    return kernel->second;
  }

  std::map<std::pair<uint64_t, uint64_t>, int> known_;  // by hashes of workload and program
  std::vector<const tensor::Program*> programs_;
  std::vector<bool> side_by_side_;
};

/// Compiles the code for one target; its objects' names in the folder are added to `objects`.
CompiledVariant CompileVariant(std::span<const PackageShape> shapes, size_t variant, size_t number,
                               const base::ScratchFolder& scratch, ConstantSink& constants,
                               std::vector<std::string>& objects) {
  CompiledVariant compiled;
  compiled.target = codegen::ShippedTarget(shapes[0].variants[variant].target);
  KernelPool pool;
  std::vector<SharingPrograms> kept;
  for (const PackageShape& shape : shapes) {
    const auto& [target, given, divided, branches, small] = shape.variants[variant];
    const TaskGraph& network = divided != nullptr ? *divided : *shape.network;
    kept.push_back(compiled.IsForGpu() ? SharingPrograms{given, {}} : ShareForms(network, given));
    const std::vector<const tensor::Program*>& programs = kept.back().programs;
    compiled.plans.push_back(PlanNetwork(network, programs, target, branches, &constants, small));
    pool.Take(network, programs, small, compiled.plans.back());
  }
  const std::string prefix = KernelPrefix(number);
  compiled.kernels = CompilePrograms(pool.programs(), compiled.target, prefix, pool.side_by_side());
  for (size_t kernel = 0; kernel < compiled.kernels.size(); ++kernel) {
    std::string& object = compiled.kernels[kernel].object;
    if (compiled.IsForGpu()) {
      scratch.Write(ImageFile(number, kernel), object);
    } else {
      objects.push_back(fmt::format("{}{}.o", prefix, kernel));
      scratch.Write(objects.back(), std::exchange(object, {}));
    }
  }
  if (compiled.IsForGpu()) {
    objects.push_back(prefix + "images.s");
    scratch.Write(objects.back(), ImagesAssembly(compiled, number));
  }
  return compiled;
}

/// A call says by the sizes of its tensors which shape it has, unless it gives dimensions.
void CheckShapesDiffer(std::span<const PackageShape> shapes, const CompiledVariant& compiled) {
  std::map<std::pair<std::vector<int64_t>, std::vector<int64_t>>, size_t> known;
  for (size_t s = 0; s < shapes.size(); ++s) {
    if (!shapes[s].network->graph.symbols.empty()) continue;
    const NetworkPlan& plan = compiled.plans[s];
    const auto [other, is_new] = known.emplace(std::pair(plan.input_bytes, plan.output_bytes), s);
    if (is_new) continue;
    throw InputError(fmt::format(
        "the tensors have the same sizes with {} and with {}: a library cannot tell "
        "them apart",
        base::SingleLine(shapes[other->second].label), base::SingleLine(shapes[s].label)));
  }
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
  scratch.Write("bayloom_cpu_features.h", kCpuFeaturesHeader);
  scratch.Write("bayloom_cpu.c", kCpuSource);
  scratch.Write("bayloom_huge_pages.h", kHugePagesHeader);
  scratch.Write("bayloom_huge_pages.c", kHugePagesSource);
  scratch.Write("bayloom_model.h", kModelHeader);
  scratch.Write("bayloom_model.c", kModelSource);
  scratch.Write("bayloom_model_data.h", kModelDataHeader);
  scratch.Write("bayloom_decoder.h", kDecoderHeader);
  scratch.Write("bayloom_decoder.c", kDecoderSource);
  scratch.Write("bayloom_package.h", kPackageHeader);
  scratch.Write("bayloom_open.h", kOpenHeader);
  scratch.Write("bayloom_open.c", kOpenSource);
}

/// What networks for GPUs need besides. Returns what is to be compiled.
std::vector<std::string> WriteGpuRuntime(const base::ScratchFolder& scratch) {
  scratch.Write("bayloom_cuda.h", kCudaHeader);
  scratch.Write("bayloom_gpu.h", kGpuHeader);
  scratch.Write("bayloom_gpu_model.h", kGpuModelHeader);
  scratch.Write("bayloom_cuda.c", kCudaSource);
  scratch.Write("bayloom_gpu.c", kGpuSource);
  scratch.Write("bayloom_gpu_model.c", kGpuModelSource);
  return {"bayloom_cuda.c", "bayloom_gpu.c", "bayloom_gpu_model.c"};
}

/// Kernels of the library, where a network calls some. Returns what is to be compiled.
std::vector<std::string> WriteLibrary(std::span<const PackageShape> shapes,
                                      const base::ScratchFolder& scratch) {
  const bool calls = std::ranges::any_of(shapes, [](const PackageShape& shape) {
    return std::ranges::any_of(shape.network->tasks,
                               [](const GraphTask& task) { return tensor::IsCall(task.workload); });
  });
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

}  // namespace

Package WritePackage(const TaskGraph& network, std::span<const PackageVariant> variants,
                     const std::string& directory, const std::string& name) {
  const PackageShape shape = {"", &network, {variants.begin(), variants.end()}};
  return WritePackage({&shape, 1}, directory, name);
}

Package WritePackage(std::span<const PackageShape> shapes, const std::string& directory,
                     const std::string& name) {
  if (const std::optional<std::string> reason = WhyNotAPackageName(name)) {
    throw InputError(fmt::format("'{}' cannot be a library's name: {}; try '{}'",
                                 base::SingleLine(name), *reason, ToPackageName(name)));
  }
  base::CreateFolder(directory);
  const base::ScratchFolder scratch(directory);
  std::vector<std::string> arguments = {"-shared", "-fPIC", "-O3", "-std=gnu11", "-pthread"};
  std::vector<CompiledVariant> compiled;
  ConstantFile constants(scratch / "constants.bin");
  for (const size_t variant : MostDemandingFirst(shapes[0].variants)) {
    compiled.push_back(
        CompileVariant(shapes, variant, compiled.size(), scratch, constants, arguments));
  }
  CheckShapesDiffer(shapes, compiled[0]);
  const std::string header =
      scratch.Write(name + ".h", PackageHeader(shapes, compiled, name, CommonHeader()));
  WriteRuntime(scratch);
  scratch.Write("constants.s", ConstantsAssembly("constants.bin"));
  scratch.Write("bayloom_network.c", PackageSource(shapes, compiled, name, constants.bytes()));
  scratch.Write("visible", VersionScript(shapes, name));
  arguments.insert(arguments.end(),
                   {"bayloom_runtime.c", "bayloom_cpu.c", "bayloom_huge_pages.c", "bayloom_model.c",
                    "bayloom_decoder.c", "bayloom_open.c", "bayloom_network.c", "constants.s",
                    "-Wl,--version-script=visible"});
  if (compiled[0].IsForGpu()) {
    for (std::string& source : WriteGpuRuntime(scratch)) arguments.push_back(std::move(source));
  }
  for (std::string& source : WriteLibrary(shapes, scratch)) arguments.push_back(std::move(source));
  const std::string library = fmt::format("lib{}.so", name);
  // The thread pool's workers outlive a dlclose, so the code must not be unmapped by one.
  arguments.insert(arguments.end(), {"-Wl,-z,nodelete", "-lm", "-o", library});
  const target::TargetKind kind = shapes[0].variants[0].target.kind();
  codegen::RunCompiler(compiled[0].IsForGpu() ? codegen::HostKind() : kind, scratch.path(),
                       arguments);

  Package package;
  package.constant_bytes = constants.bytes();
  package.library = (fs::path(directory) / library).string();
  package.header = (fs::path(directory) / (name + ".h")).string();
  base::MoveFile(scratch / library, package.library);
  base::MoveFile(header, package.header);
  return package;
}

}  // namespace bayloom::graph
