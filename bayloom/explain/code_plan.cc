// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/explain/code_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bayloom/feature/cpu_nest.h"
#include "bayloom/plan/cpu/cpu_plan.h"
#include "bayloom/plan/cpu/guard.h"
#include "bayloom/plan/gpu/gpu_plan.h"
#include "bayloom/tensor/loop_names.h"

namespace bayloom::explain {
namespace {

using Json = nlohmann::json;

/// Describes the blocks of a processor's program.
class CpuDescriber {
 public:
  CpuDescriber(const tensor::Program& program, const plan::CpuPlan& plan)
      : program_(program), plan_(plan), names_(tensor::LoopNames(program)) {}

  Json Describe() const {
    Json blocks = Json::array();
    for (tensor::BlockId block : program_.BlocksInOrder()) {
      if (!plan_.absorbed.contains(block)) blocks.push_back(Describe(block));
    }
    return blocks;
  }

 private:
  Json Describe(tensor::BlockId id) const {
    const tensor::Block& block = program_.blocks[id];
    Json shown = {{"block", block.name}, {"unrolled", Json::array()}};
    if (block.kind == tensor::BlockKind::kCall) return {{"block", block.name}, {"library", true}};
    if (block.kind == tensor::BlockKind::kInit) shown["starts"] = true;
    for (tensor::LoopId loop : program_.LoopsAround(tensor::NodeRef::Block(id))) {
      if (plan_.unrolled.contains(loop)) shown["unrolled"].push_back(names_[loop]);
      const auto vector = plan_.vector_loops.find(loop);
      if (vector == plan_.vector_loops.end()) continue;
      shown["lanes"] = vector->second.width;
      shown["registers"] = vector->second.Chunks().size();
    }
    if (const auto dot = plan_.dots.find(id); dot != plan_.dots.end()) {
      const auto product = plan_.tile_products.find(id);
      const bool in_pairs = plan_.pairs.contains(id);
      shown["depth"] = dot->second.depth;
      shown["instruction"] = product != plan_.tile_products.end()
                                 ? product->second.instruction->name
                             : in_pairs ? dot->second.matrix->name
                                        : dot->second.method.instruction->name;
    }
    for (const auto& [root, tile] : plan_.tiles) {
      if (tile.block == id) DescribeTile(tile, shown);
    }
    return shown;
  }

  void DescribeTile(const plan::AccumulatorTile& tile, Json& shown) const {
    Json steps = Json::object();
    for (tensor::LoopId loop : tile.spatial) {
      int64_t taken = 1;
      for (tensor::DigitId digit : program_.loops[loop].digits) {
        taken *= tile.StepsOf(program_, digit);
      }
      if (taken > 1) steps[names_[loop]] = taken;
    }
    Json loops = Json::array();
    for (tensor::LoopId loop : tile.reduction) {
      if (program_.ExtentOf(loop) > 1) loops.push_back(names_[loop]);
    }
    shown["sums"] = {{"registers", feature::CpuNestOf(program_, plan_, tile.block).Sums()},
                     {"steps", std::move(steps)},
                     {"loops", std::move(loops)},
                     {"from_zero", tile.starts_neutral}};
    if (const auto fold = plan_.folds.find(tile.block); fold != plan_.folds.end()) {
      shown["fold"] = {{"loop", names_[fold->second.loops[0]]}, {"lanes", fold->second.width}};
    }
    const tensor::Block& block = program_.blocks[tile.block];
    const size_t guards = plan::GuardsOf(block, plan_.accesses.at(tile.block)).size();
    if (guards > 0) shown["guards"] = guards;
    const auto epilogue = plan_.epilogues.find(tile.block);
    if (epilogue != plan_.epilogues.end()) shown["also"] = {epilogue->second.block.name};
  }

  const tensor::Program& program_;
  const plan::CpuPlan& plan_;
  const std::vector<std::string> names_;
};

Json DescribeKernels(const tensor::Program& program, const plan::GpuPlan& plan) {
  const std::vector<std::string> names = tensor::LoopNames(program);
  Json kernels = Json::array();
  for (const plan::KernelPlan& kernel : plan.kernels) {
    std::vector<std::string> blocks;
    for (tensor::BlockId block : kernel.Blocks(program)) {
      blocks.push_back(program.blocks[block].name);
    }
    Json shown = {{"kernel", blocks},
                  {"blocks", kernel.blocks},
                  {"threads", kernel.threads},
                  {"shared_bytes", kernel.shared_bytes},
                  {"barriers", kernel.barriers.size()},
                  {"unrolled", Json::array()}};
    for (tensor::BlockId block : kernel.Blocks(program)) {
      for (tensor::LoopId loop : program.LoopsAround(tensor::NodeRef::Block(block))) {
        const auto add = [&](const char* key, const Json& value) {
          if (std::ranges::count(shown[key], value) == 0) shown[key].push_back(value);
        };
        if (plan.unrolled.contains(loop)) add("unrolled", names[loop]);
        const auto product = plan.warp_products.find(loop);
        if (product != plan.warp_products.end()) {
          add("instructions", product->second.instruction->name);
        }
        const auto group = plan.group_products.find(loop);
        if (group != plan.group_products.end()) {
          add("instructions", group->second.instruction->name);
        }
        const auto pipeline = plan.pipelines.find(loop);
        if (pipeline != plan.pipelines.end()) shown["stages"] = pipeline->second.stages;
      }
    }
    kernels.push_back(std::move(shown));
  }
  return kernels;
}

template <typename Plan, typename Describe>
Json DescribeOrRefuse(const Result<Plan>& plan, const Describe& describe) {
  return plan ? describe(*plan) : Json{{"refused", plan.error().message}};
}

std::string Joined(const Json& names) {
  return fmt::format("{}", fmt::join(names.get<std::vector<std::string>>(), ", "));
}

/// "6 of h", for each loop whose steps are side by side.
std::string Steps(const Json& steps) {
  std::vector<std::string> parts;
  for (const auto& [loop, count] : steps.items()) {
    parts.push_back(fmt::format("{} of {}", count.get<int64_t>(), loop));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string KernelLine(const Json& kernel) {
  std::string line = fmt::format("{}: {} blocks of {} threads", Joined(kernel["kernel"]),
                                 kernel["blocks"].get<int64_t>(), kernel["threads"].get<int>());
  if (const auto bytes = kernel["shared_bytes"].get<int64_t>(); bytes > 0) {
    line += fmt::format("; {} bytes of shared memory", bytes);
  }
  if (const auto barriers = kernel["barriers"].get<int>(); barriers > 0) {
    line += fmt::format("; {} {}", barriers, barriers == 1 ? "barrier" : "barriers");
  }
  if (kernel.contains("stages")) {
    line += fmt::format("; copies {} stages ahead", kernel["stages"].get<int>() - 1);
  }
  if (kernel.contains("instructions")) line += "; " + Joined(kernel["instructions"]);
  return line;
}

std::string BlockLine(const Json& block) {
  if (block.contains("library")) return block["block"].get<std::string>() + ": of the library";
  std::vector<std::string> parts;
  if (block.contains("fold")) {
    parts.push_back(fmt::format("{} in {} lanes, combined at the end",
                                block["fold"]["loop"].get<std::string>(),
                                block["fold"]["lanes"].get<int>()));
  } else if (block.contains("lanes")) {
    const auto registers = block["registers"].get<int>();
    parts.push_back(fmt::format("{} lanes in {} {}", block["lanes"].get<int>(), registers,
                                registers == 1 ? "register" : "registers"));
  } else {
    parts.emplace_back("one element at a time");
  }
  if (block.contains("sums")) {
    const Json& sums = block["sums"];
    const auto registers = sums["registers"].get<int>();
    std::string part =
        fmt::format("{} {} of sums", registers, registers == 1 ? "register" : "registers");
    if (!sums["steps"].empty()) part += fmt::format(" ({})", Steps(sums["steps"]));
    if (!sums["loops"].empty()) part += ", held over " + Joined(sums["loops"]);
    if (!sums["from_zero"].get<bool>()) part += ", loaded and stored again";
    parts.push_back(part);
  }
  if (block.contains("instruction")) {
    parts.push_back(fmt::format("{}, {} products deep", block["instruction"].get<std::string>(),
                                block["depth"].get<int>()));
  }
  if (block.contains("guards")) {
    parts.push_back(
        fmt::format("{} conditions that loops are split by", block["guards"].get<int>()));
  }
  if (!block["unrolled"].empty()) parts.push_back("unrolled: " + Joined(block["unrolled"]));
  if (block.contains("also")) {
    parts.push_back(Joined(block["also"]) + " computed on the sums' registers");
  }
  return fmt::format("{}{}: {}", block["block"].get<std::string>(),
                     block.contains("starts") ? " (start)" : "", fmt::join(parts, "; "));
}

}  // namespace

Json CodePlanOf(const tensor::Program& program, const target::Target& target) {
  if (target.kind() == target::TargetKind::kNvidiaGpu) {
    return DescribeOrRefuse(
        plan::MakeGpuPlan(program, target::LimitsOf(target)),
        [&](const plan::GpuPlan& plan) { return DescribeKernels(program, plan); });
  }
  return DescribeOrRefuse(plan::MakeCpuPlan(program, target), [&](const plan::CpuPlan& plan) {
    return CpuDescriber(program, plan).Describe();
  });
}

std::vector<std::string> CodePlanLines(const Json& plan) {
  if (plan.is_object()) return {"no code: " + plan["refused"].get<std::string>()};
  std::vector<std::string> lines;
  for (const Json& part : plan) {
    lines.push_back(part.contains("kernel") ? KernelLine(part) : BlockLine(part));
  }
  return lines;
}

}  // namespace bayloom::explain
