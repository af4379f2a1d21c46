// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/target/target_json.h"

#include <nlohmann/json.hpp>

#include "bayloom/base/hash.h"

namespace bayloom::target {

nlohmann::json TargetToJson(const Target& target) {
  nlohmann::json json = {{"name", target.name},         {"triple", target.triple},
                         {"cpu", target.cpu},           {"features", target.features},
                         {"cores", target.cores},       {"vector_bytes", target.vector_bytes},
                         {"l1_bytes", target.l1_bytes}, {"l2_bytes", target.l2_bytes}};
  if (target.machine) json["machine"] = MachineModelToJson(*target.machine);
  return json;
}

Target TargetFromJson(const nlohmann::json& json) {
  Target target;
  json.at("name").get_to(target.name);
  json.at("triple").get_to(target.triple);
  json.at("cpu").get_to(target.cpu);
  json.at("features").get_to(target.features);
  json.at("cores").get_to(target.cores);
  json.at("vector_bytes").get_to(target.vector_bytes);
  json.at("l1_bytes").get_to(target.l1_bytes);
  json.at("l2_bytes").get_to(target.l2_bytes);
  if (json.contains("machine")) target.machine = MachineModelFromJson(json.at("machine"));
  return target;
}

uint64_t HashOf(const Target& target) {
  nlohmann::json json = TargetToJson(target);
  json.erase("name");
  json.erase("machine");
  return base::Hasher().Add(json.dump()).Digest();
}

}  // namespace bayloom::target
