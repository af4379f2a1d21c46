// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/gpu/gpu_image.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "bayloom/base/single_line.h"
#include "bayloom/codegen/gpu/assemble.h"
#include "bayloom/codegen/gpu/ptx.h"
#include "bayloom/codegen/gpu/stand_in_code.h"
#include "bayloom/codegen/gpu/stand_in_machine.h"

namespace bayloom::codegen {
namespace {

constexpr char kImageVariable[] = "BAYLOOM_CUDA_IMAGE";
/// What the comment with the stand-in's code begins with, a line of hexadecimal digits.
constexpr std::string_view kComment = "\n//bayloom-stand-in ";
constexpr char kDigits[] = "0123456789abcdef";

std::string ToHex(const std::vector<uint8_t>& bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::vector<uint8_t> FromHex(std::string_view text) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::vector<uint8_t> bytes;
  bytes.reserve(text.size() / 2);
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<uint8_t>(16 * digit(text[i]) + digit(text[i + 1])));
  }
  return bytes;
}

nlohmann::json ReachesToJson(const GpuLaunch& launch) {
  nlohmann::json reaches = nlohmann::json::array();
  for (const GridReach& reach : launch.reaches) {
    reaches.push_back({reach.most, reach.size, reach.before, reach.step, reach.or_next});
  }
  return reaches;
}

std::vector<uint8_t> Encode(const StandInObjects& objects) {
  nlohmann::json kernels = nlohmann::json::array(), buffers = nlohmann::json::array();
  for (const StandInObjects::Kernel& kernel : objects.kernels) {
    const GpuLaunch& launch = kernel.launch;
    kernels.push_back({launch.symbol, launch.blocks, launch.threads, launch.shared_bytes,
                       kernel.scratch_bytes,
                       nlohmann::json::binary({kernel.object.begin(), kernel.object.end()}),
                       launch.block_share, launch.fixed_iterations, ReachesToJson(launch)});
  }
  for (const StandInBuffer& buffer : objects.buffers) {
    buffers.push_back({buffer.name, static_cast<int>(buffer.place.memory), buffer.place.position,
                       buffer.bytes, buffer.element_bytes});
  }
  return nlohmann::json::to_cbor(
      nlohmann::json{kernels, buffers, objects.parameters, objects.workspace_bytes});
}

StandInObjects Decode(const std::vector<uint8_t>& bytes) {
  const nlohmann::json all = nlohmann::json::from_cbor(bytes);
  StandInObjects objects;
  for (const nlohmann::json& kernel : all.at(0)) {
    const nlohmann::json::binary_t& object = kernel.at(5).get_binary();
    GpuLaunch launch;
    launch.symbol = kernel.at(0);
    launch.blocks = kernel.at(1);
    launch.threads = kernel.at(2);
    launch.shared_bytes = kernel.at(3);
    launch.block_share = kernel.at(6);
    launch.fixed_iterations = kernel.at(7);
    for (const nlohmann::json& reach : kernel.at(8)) {
      launch.reaches.push_back({reach.at(0), reach.at(1), reach.at(2), reach.at(3), reach.at(4)});
    }
    objects.kernels.push_back({std::move(launch), kernel.at(4), {object.begin(), object.end()}});
  }
  for (const nlohmann::json& buffer : all.at(1)) {
    objects.buffers.push_back(
        {buffer.at(0),
         {static_cast<plan::GpuMemory>(buffer.at(1).get<int>()), buffer.at(2).get<int64_t>()},
         buffer.at(3),
         buffer.at(4)});
  }
  objects.parameters = all.at(2);
  objects.workspace_bytes = all.at(3);
  return objects;
}

}  // namespace

GpuImage WantedGpuImage() {
  const char* const variable = std::getenv(kImageVariable);
  if (variable == nullptr) return HasAssembler() ? GpuImage::kCubin : GpuImage::kPtx;
  const std::string_view wanted = variable;
  if (wanted == "cubin") return GpuImage::kCubin;
  if (wanted == "ptx") return GpuImage::kPtx;
  if (wanted == "stand-in") return GpuImage::kStandIn;
  throw InputError(std::string(kImageVariable) + " is '" + base::SingleLine(variable) +
                   "', not cubin, ptx or stand-in");
}

Result<std::string> WithStandIn(const std::string& ptx, const tensor::Program& program,
                                const target::GpuLimits& limits, const std::string& symbol) {
  StandInMachine machine;
  Result<StandInObjects> objects = CompileStandInObjects(program, limits, machine, symbol);
  if (!objects) return objects.error();
  return ptx + std::string(kComment) + ToHex(Encode(*objects)) + "\n";
}

Result<StandIn> StandInOf(std::string_view image) {
  const size_t begin = image.find(kComment);
  if (begin == std::string_view::npos) return Error{"the image has no code for the stand-in"};
  const std::string_view text = image.substr(begin + kComment.size());
  try {
    return LoadStandIn(Decode(FromHex(text.substr(0, text.find('\n')))));
  } catch (const nlohmann::json::exception&) {
    return Error{"the image's code for the stand-in is damaged"};
  }
}

Result<KernelObject> CompileForGpu(const tensor::Program& program, const target::GpuLimits& limits,
                                   const std::string& symbol) {
  Result<GpuProgram> compiled = CompileToPtx(program, limits, symbol);
  if (!compiled) return compiled.error();
  KernelObject kernel;
  kernel.symbol = symbol;
  kernel.launches = std::move(compiled->launches);
  kernel.shared_workspace_bytes = compiled->workspace_bytes;
  switch (WantedGpuImage()) {
    case GpuImage::kPtx:
      kernel.object = std::move(compiled->ptx);
      break;
    case GpuImage::kCubin: {
      Result<AssembledProgram> assembled = Assemble(compiled->ptx, limits.architecture);
      if (!assembled) return assembled.error();
      kernel.object = std::move(assembled->cubin);
      for (GpuLaunch& launch : kernel.launches) {
        const auto known =
            std::ranges::find(assembled->kernels, launch.symbol, &AssembledKernel::symbol);
        if (known == assembled->kernels.end()) continue;
        launch.registers = known->registers;
        launch.spill_bytes = known->spill_bytes;
      }
      break;
    }
    case GpuImage::kStandIn: {
      Result<std::string> image = WithStandIn(compiled->ptx, program, limits, symbol);
      if (!image) return image.error();
      kernel.object = *std::move(image);
      break;
    }
  }
  return kernel;
}

}  // namespace bayloom::codegen
