// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "bayloom/tensor/instruction.h"
#include "bayloom/tensor/trace.h"

namespace bayloom::tensor {
namespace {

using Json = nlohmann::json;

nlohmann::json StepToJson(const Instruction& step, const std::optional<Decision>& decision) {
  Json object = {{"op", ToString(step.kind)}};
  if (!step.text.empty()) object["text"] = step.text;
  if (!step.inputs.empty()) object["in"] = step.inputs;
  if (!step.attributes.empty()) object["attributes"] = step.attributes;
  if (!step.weights.empty()) object["weights"] = step.weights;
  if (!step.outputs.empty()) object["out"] = step.outputs;
  if (decision) object["decision"] = decision->values;
  return object;
}

template <typename T>
bool ReadNumber(const Json& value, T& out) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!value.is_number()) return false;
    out = value.get<T>();
    return true;
  } else {
    if (!value.is_number_integer()) return false;
    if (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX) return false;
    const int64_t wide = value.get<int64_t>();
    if (wide < std::numeric_limits<T>::min() || wide > std::numeric_limits<T>::max()) return false;
    out = static_cast<T>(wide);
    return true;
  }
}

/// Reads an optional array of numbers; false if it is something else.
template <typename T>
bool ReadNumbers(const Json& object, const char* key, std::vector<T>& out) {
  const auto found = object.find(key);
  if (found == object.end()) return true;
  if (!found->is_array()) return false;
  out.reserve(found->size());
  for (const Json& value : *found) {
    T number;
    if (!ReadNumber(value, number)) return false;
    out.push_back(number);
  }
  return true;
}

struct Step {
  Instruction instruction;
  std::optional<Decision> decision;
};

Result<Step> StepFromJson(const Json& object) {
  if (!object.is_object()) return Error{"a step must be an object"};
  const auto op = object.find("op");
  if (op == object.end() || !op->is_string()) return Error{"a step must have a string \"op\""};
  const InstructionForm* form = FindForm(op->get_ref<const std::string&>());
  if (form == nullptr) {
    return Error{fmt::format("unknown operation \"{}\"", op->get_ref<const std::string&>())};
  }
  Step step;
  Instruction& instruction = step.instruction;
  instruction.kind = form->kind;
  if (const auto text = object.find("text"); text != object.end()) {
    if (!text->is_string()) return Error{"\"text\" must be a string"};
    instruction.text = text->get<std::string>();
  }
  Decision decision;
  if (!ReadNumbers(object, "in", instruction.inputs) ||
      !ReadNumbers(object, "attributes", instruction.attributes) ||
      !ReadNumbers(object, "weights", instruction.weights) ||
      !ReadNumbers(object, "out", instruction.outputs) ||
      !ReadNumbers(object, "decision", decision.values)) {
    return Error{
        "\"in\", \"attributes\", \"weights\", \"out\" and \"decision\" must be arrays of "
        "numbers"};
  }
  if (object.contains("decision")) step.decision = std::move(decision);
  return step;
}

}  // namespace

nlohmann::json Trace::ToJson() const {
  Json steps = Json::array();
  for (size_t i = 0; i < instructions().size(); ++i) {
    steps.push_back(StepToJson(instructions()[i], decisions_[i]));
  }
  return {{"steps", std::move(steps)}};
}

Result<Trace> Trace::FromJson(const nlohmann::json& json) {
  if (!json.is_object() || !json.contains("steps") || !json["steps"].is_array()) {
    return Error{"a trace must be an object with an array \"steps\""};
  }
  Trace trace;
  for (const nlohmann::json& object : json["steps"]) {
    const size_t number = trace.instructions().size();
    Result<Step> step = StepFromJson(object);
    if (!step) return Error{fmt::format("trace step {}: {}", number, step.error().message)};
    if (Status s = trace.Check(step->instruction, step->decision); !s) {
      return Error{fmt::format("trace step {}: {}", number, s.error().message)};
    }
    trace.Append(std::move(step->instruction), std::move(step->decision));
  }
  return trace;
}

}  // namespace bayloom::tensor
