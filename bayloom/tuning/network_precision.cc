// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/network_precision.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "bayloom/base/hash.h"
#include "bayloom/base/json.h"
#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"

namespace bayloom::tuning {
namespace {

struct NamedPrecision {
  std::string_view name;
  tensor::DType dtype;
};
constexpr std::array<NamedPrecision, 4> kPrecisions = {{{"f32", tensor::DType::kFloat32},
                                                        {"bf16", tensor::DType::kBFloat16},
                                                        {"f16", tensor::DType::kFloat16},
                                                        {"tf32", tensor::DType::kTFloat32}}};

/// Products that a line names.
constexpr size_t kMaxNamedProducts = 3;

void AddExpr(const tensor::Expr& e, base::Hasher& hasher) {
  hasher.Add(static_cast<uint64_t>(e->op))
      .Add(static_cast<uint64_t>(e->dtype))
      .Add(static_cast<uint64_t>(e->index))
      .Add(static_cast<uint64_t>(e->int_value))
      .Add(std::bit_cast<uint64_t>(e->float_value));
  for (const tensor::Expr& operand : e->operands) AddExpr(operand, hasher);
}

/// Errors that are not finite, which JSON has no numbers for, are null.
nlohmann::json ErrorToJson(double error) {
  return std::isfinite(error) ? nlohmann::json(error) : nlohmann::json();
}

double ErrorOfJson(const nlohmann::json& json) {
  return json.is_number() ? json.get<double>() : std::numeric_limits<double>::infinity();
}

std::string Hexadecimal(uint64_t number) { return fmt::format("{:016x}", number); }

NetworkPrecision NetworkOfJson(const nlohmann::json& json, tensor::DType dtype, double tolerance) {
  NetworkPrecision network;
  network.network = std::stoull(json.at("network").get<std::string>(), nullptr, 16);
  network.tolerance = tolerance;
  network.choice.dtype = dtype;
  network.choice.products = json.at("products").get<int>();
  network.choice.error = ErrorOfJson(json.at("error"));
  network.choice.error_without_kept = ErrorOfJson(json.at("error_of_all"));
  for (const nlohmann::json& kept : json.at("float32")) {
    network.choice.kept.push_back(
        {kept.at("name").get<std::string>(), ErrorOfJson(kept.at("error"))});
  }
  return network;
}

}  // namespace

std::string PrecisionName(tensor::DType dtype) {
  for (const NamedPrecision& precision : kPrecisions) {
    if (precision.dtype == dtype) return std::string(precision.name);
  }
  return tensor::ToString(dtype);
}

tensor::DType PrecisionOfName(std::string_view name) {
  for (const NamedPrecision& precision : kPrecisions) {
    if (precision.name == name) return precision.dtype;
  }
  throw InputError(fmt::format("'{}' is no precision; there are f32, tf32, bf16 and f16", name));
}

uint64_t NetworkHash(const graph::Graph& graph) {
  base::Hasher hasher;
  for (const graph::Value& value : graph.values) {
    hasher.Add(static_cast<uint64_t>(value.dtype)).Add(value.shape.size());
    for (int64_t extent : value.shape) hasher.Add(static_cast<uint64_t>(extent));
    if (!value.constant) continue;
    const std::vector<std::byte>& data = value.constant->data;
    hasher.Add(std::string_view(reinterpret_cast<const char*>(data.data()), data.size()));
  }
  for (const graph::Node& node : graph.nodes) {
    hasher.Add(static_cast<uint64_t>(node.kind)).Add(static_cast<uint64_t>(node.output()));
    for (const tensor::Iter& iter : node.stage.iters) {
      hasher.Add(static_cast<uint64_t>(iter.extent));
    }
    if (node.kind == graph::NodeKind::kView) {
      hasher.Add(static_cast<uint64_t>(node.source));
    } else {
      AddExpr(node.stage.value, hasher);
    }
  }
  return hasher.Digest();
}

nlohmann::json PrecisionToJson(const std::vector<NetworkPrecision>& networks) {
  if (networks.empty()) return nullptr;
  nlohmann::json json = {{"type", PrecisionName(networks.front().choice.dtype)},
                         {"tolerance", networks.front().tolerance}};
  for (const NetworkPrecision& network : networks) {
    nlohmann::json kept = nlohmann::json::array();
    for (const graph::KeptProduct& product : network.choice.kept) {
      kept.push_back({{"name", product.name}, {"error", ErrorToJson(product.error)}});
    }
    json["networks"].push_back({{"network", Hexadecimal(network.network)},
                                {"products", network.choice.products},
                                {"error", ErrorToJson(network.choice.error)},
                                {"error_of_all", ErrorToJson(network.choice.error_without_kept)},
                                {"float32", std::move(kept)}});
  }
  return json;
}

std::vector<NetworkPrecision> PrecisionsOfDefinition(const std::string& definition) {
  const nlohmann::json json = base::ParseJsonOrDiscard(definition);
  if (!json.is_object() || !json.contains("precision")) return {};
  try {
    const nlohmann::json& precision = json["precision"];
    const tensor::DType dtype = PrecisionOfName(precision.at("type").get<std::string>());
    const double tolerance = precision.at("tolerance").get<double>();
    std::vector<NetworkPrecision> networks;
    for (const nlohmann::json& network : precision.at("networks")) {
      networks.push_back(NetworkOfJson(network, dtype, tolerance));
    }
    return networks;
  } catch (const std::exception&) {  // of another version, or damaged: it is decided again
    return {};
  }
}

std::string DescribePrecision(const nlohmann::json& precision) {
  if (!precision.is_object()) return PrecisionName(tensor::DType::kFloat32);
  return fmt::format("{} within {:g}", precision.value("type", ""),
                     precision.value("tolerance", 0.0));
}

std::string Describe(const NetworkPrecision& precision) {
  const graph::PrecisionChoice& choice = precision.choice;
  const size_t kept = choice.kept.size();
  std::string text = fmt::format(
      "{}: largest error {:.2g} of the largest output (tolerance {:g}); {} of {} products",
      PrecisionName(choice.dtype), choice.error, precision.tolerance,
      choice.products - static_cast<int>(kept), choice.products);
  if (kept == 0) return text;
  text += fmt::format(" (all: {:.2g}), in float32:", choice.error_without_kept);
  for (size_t i = 0; i < std::min(kept, kMaxNamedProducts); ++i) {
    text += fmt::format("{} {}", i == 0 ? "" : ",", base::SingleLine(choice.kept[i].name));
  }
  if (kept > kMaxNamedProducts) text += fmt::format(" and {} more", kept - kMaxNamedProducts);
  return text;
}

}  // namespace bayloom::tuning
