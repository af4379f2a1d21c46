// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/package.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

#include "bayloom/base/file.h"
#include "bayloom/base/scratch_folder.h"
#include "bayloom/base/single_line.h"
#include "bayloom/codegen/compile.h"
#include "bayloom/codegen/cpu_features.h"
#include "bayloom/codegen/host.h"
#include "bayloom/graph/executor.h"
#include "bayloom/graph/package/c_names.h"
#include "bayloom/graph/package/constant_object.h"
#include "bayloom/graph/package/package_module.h"
#include "bayloom/graph/tasks/shared_forms.h"

namespace bayloom::graph {

// The text of codegen/runtime/bayloom_package.h, compiled in at build time.
extern const char kPackageHeader[];

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

/// Where a package is made: objects of the linker in a folder.
struct Workplace {
  base::ScratchFolder scratch;
  codegen::LibraryParts parts;
  ConstantObject constants, images;

  Workplace(const std::string& directory, const std::string& name, target::TargetKind kind)
      : scratch(directory),
        constants(scratch / "constants.o", ConstantsSymbol(name), kind),
        images(scratch / "images.o", ImagesSymbol(name), kind) {
    parts.folder = scratch.path();
    parts.kind = kind;
  }
};

/// Compiles the code for one target.
CompiledVariant CompileVariant(std::span<const PackageShape> shapes, size_t variant, size_t number,
                               Workplace& place) {
  CompiledVariant compiled;
  compiled.target = codegen::ShippedTarget(shapes[0].variants[variant].target);
  KernelPool pool;
  std::vector<SharingPrograms> kept;
  for (const PackageShape& shape : shapes) {
    const auto& [target, given, divided, branches, small] = shape.variants[variant];
    const TaskGraph& network = divided != nullptr ? *divided : *shape.network;
    kept.push_back(compiled.IsForGpu() ? SharingPrograms{given, {}} : ShareForms(network, given));
    const std::vector<const tensor::Program*>& programs = kept.back().programs;
    compiled.plans.push_back(
        PlanNetwork(network, programs, target, branches, &place.constants, small));
    pool.Take(network, programs, small, compiled.plans.back());
  }
  const std::string prefix = KernelPrefix(number);
  compiled.kernels = CompilePrograms(pool.programs(), compiled.target, prefix, pool.side_by_side());
  for (size_t kernel = 0; kernel < compiled.kernels.size(); ++kernel) {
    std::string object = std::exchange(compiled.kernels[kernel].object, {});
    if (compiled.IsForGpu()) {
      object.push_back('\0');  // PTX is text
      compiled.images.push_back(place.images.Add(std::as_bytes(std::span(object))));
    } else {
      place.parts.objects.push_back(fmt::format("{}{}.o", prefix, kernel));
      place.scratch.Write(place.parts.objects.back(), object);
    }
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

}  // namespace

Package WritePackage(const TaskGraph& network, std::span<const PackageVariant> variants,
                     const std::string& directory, const std::string& name) {
  const PackageShape shape = {"", &network, {variants.begin(), variants.end()}};
  return WritePackage({&shape, 1}, directory, name);
}

Package WritePackage(std::span<const PackageShape> shapes, const std::string& directory,
                     const std::string& name, codegen::LibraryForm form) {
  if (const std::optional<std::string> reason = WhyNotAPackageName(name)) {
    throw InputError(fmt::format("'{}' cannot be a library's name: {}; try '{}'",
                                 base::SingleLine(name), *reason, ToPackageName(name)));
  }
  base::CreateFolder(directory);
  const target::TargetKind kind = shapes[0].variants[0].target.kind();
  const bool is_gpu = kind == target::TargetKind::kNvidiaGpu;
  Workplace place(directory, name, is_gpu ? codegen::HostKind() : kind);
  std::vector<CompiledVariant> compiled;
  for (const size_t variant : MostDemandingFirst(shapes[0].variants)) {
    compiled.push_back(CompileVariant(shapes, variant, compiled.size(), place));
  }
  CheckShapesDiffer(shapes, compiled[0]);
  const std::string header =
      place.scratch.Write(name + ".h", PackageHeader(shapes, compiled, name, CommonHeader()));
  const int64_t constant_bytes = place.constants.object().bytes();
  Result<std::string> network =
      codegen::CompileIr(PackageModule(shapes, compiled, name, constant_bytes), place.parts.kind);
  if (!network) throw std::logic_error(network.error().message);
  place.parts.objects.emplace_back("network.o");
  place.scratch.Write("network.o", *network);
  place.constants.Finish();
  place.parts.data.push_back(&place.constants.object());
  if (is_gpu) {
    place.images.Finish();
    place.parts.data.push_back(&place.images.object());
  }
  place.parts.functions = PackageFunctions(shapes, name);
  const std::string library = codegen::LinkLibrary(place.parts, form, name);

  Package package;
  package.constant_bytes = constant_bytes;
  package.library = (fs::path(directory) / fs::path(library).filename()).string();
  package.header = (fs::path(directory) / (name + ".h")).string();
  base::MoveFile(library, package.library);
  base::MoveFile(header, package.header);
  return package;
}

}  // namespace bayloom::graph
