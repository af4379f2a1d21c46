// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/kernel_json.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/base/base64.h"
#include "bayloom/base/json.h"
#include "bayloom/codegen/shared_library.h"

namespace bayloom::measure {
namespace {

using Json = nlohmann::json;

/// More than any machine has; sums and products of a few stay numbers.
constexpr int64_t kMaxBytes = int64_t{1} << 46;
constexpr int kMaxDimensions = 64;

Json LayoutToJson(const std::vector<tensor::LayoutAxis>& layout) {
  Json json = Json::array();
  for (const tensor::LayoutAxis& axis : layout) {
    json.push_back({axis.dimension, axis.stride, axis.extent});
  }
  return json;
}

Json TransformToJson(const tensor::ConstantTransform& transform) {
  if (transform.source_shape.empty()) return nullptr;
  return {{"shape", transform.source_shape}, {"matrices", transform.matrices}};
}

int64_t NumberWithin(const Json& json, int64_t from, int64_t to) {
  const auto number = json.get<int64_t>();
  if (number < from || number > to) throw InputError("a number is out of range");
  return number;
}

std::vector<tensor::LayoutAxis> LayoutFromJson(const Json& json) {
  std::vector<tensor::LayoutAxis> layout;
  for (const Json& axis : json) {
    layout.push_back({static_cast<int>(NumberWithin(axis.at(0), 0, kMaxDimensions)),
                      NumberWithin(axis.at(1), 1, kMaxBytes),
                      NumberWithin(axis.at(2), 1, kMaxBytes)});
  }
  return layout;
}

tensor::ConstantTransform TransformFromJson(const Json& json) {
  tensor::ConstantTransform transform;
  if (json.is_null()) return transform;
  json.at("matrices").get_to(transform.matrices);
  for (const Json& extent : json.at("shape")) {
    transform.source_shape.push_back(NumberWithin(extent, 1, kMaxBytes));
  }
  if (transform.matrices.size() != transform.source_shape.size()) {
    throw InputError("a transform needs one matrix for each dimension");
  }
  for (size_t d = 0; d < transform.matrices.size(); ++d) {
    if (transform.matrices[d].size() % static_cast<size_t>(transform.source_shape[d]) != 0) {
      throw InputError("a matrix of a transform does not fit its dimension");
    }
  }
  return transform;
}

}  // namespace

Json KernelToJson(const TrialMessage& kernel) {
  Json json = {
      {"symbol", kernel.kernel.symbol},
      {"library", base::ToBase64(kernel.kernel.object)},
      {"workspace", {kernel.kernel.shared_workspace_bytes, kernel.kernel.worker_workspace_bytes}},
      {"layouts", Json::array()},
      {"transforms", Json::array()}};
  for (const auto& layout : kernel.layouts) json["layouts"].push_back(LayoutToJson(layout));
  for (const auto& transform : kernel.transforms) {
    json["transforms"].push_back(TransformToJson(transform));
  }
  return json;
}

Result<TrialMessage> KernelFromJson(const Json& json, size_t parameters) try {
  TrialMessage kernel;
  json.at("symbol").get_to(kernel.kernel.symbol);
  Result<std::string> library = base::FromBase64(json.at("library").get_ref<const std::string&>());
  if (!library) return library.error();
  if (!codegen::IsSharedLibrary(*library)) return Error{"a kernel is no shared library"};
  kernel.kernel.object = *std::move(library);
  const Json& workspace = json.at("workspace");
  kernel.kernel.shared_workspace_bytes = NumberWithin(workspace.at(0), 0, kMaxBytes);
  kernel.kernel.worker_workspace_bytes = NumberWithin(workspace.at(1), 0, kMaxBytes);
  for (const Json& layout : json.at("layouts")) kernel.layouts.push_back(LayoutFromJson(layout));
  for (const Json& transform : json.at("transforms")) {
    kernel.transforms.push_back(TransformFromJson(transform));
  }
  if (kernel.layouts.size() != parameters || kernel.transforms.size() != parameters) {
    return Error{"a kernel has another number of parameters than its workload"};
  }
  return kernel;
} catch (const Json::exception& error) {
  return Error{"this is no kernel: " + base::JsonErrorText(error.what())};
} catch (const InputError& error) {
  return Error{std::string("this is no kernel: ") + error.what()};
}

}  // namespace bayloom::measure
