// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/search/command_builder.h"

#include <fmt/format.h>

#include <variant>

namespace bayloom::search {

std::string TextOf(const space::Value& value) {
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
    return fmt::format("{}", fmt::join(*list, ","));
  }
  return space::ToString(value);
}

CommandBuilder::CommandBuilder(std::shared_ptr<const space::Space> space,
                               const EvaluatorOptions& options)
    : space_(std::move(space)), options_(options) {}

base::Command CommandBuilder::FillWith(const space::Configuration* configuration) const {
  base::Command command;
  const auto is_active = [&](const std::string& name) {
    const int parameter = configuration == nullptr ? -1 : space_->IndexOf(name);
    return parameter < 0 || space_->IsActive(*configuration, parameter);
  };
  const auto plain = [&](const TextTemplate::Placeholder& hole) {
    return TextFor(hole, configuration);
  };
  const auto quoted = [&](const TextTemplate::Placeholder& hole) {
    return is_active(hole.name) ? base::QuotedFor(hole.context, plain(hole)) : "";
  };
  for (const TextTemplate& argument : options_.arguments) {
    if (options_.is_shell) {
      command.arguments.push_back(argument.Fill(quoted, is_active));
    } else if (!argument.IsLeftOut(is_active)) {
      command.arguments.push_back(argument.Fill(plain, is_active));
    }
  }
  for (const auto& [name, text] : options_.environment) {
    if (text.IsLeftOut(is_active)) continue;
    command.environment.push_back(name + "=" + text.Fill(plain, is_active));
  }
  command.directory = options_.directory;
  command.timeout_seconds = options_.timeout;
  command.memory_limit_bytes = options_.memory_limit_bytes;
  if (options_.sandbox) {
    command.sandbox = base::Sandbox{.writable_folder = work_.path()};
    command.environment.push_back("TMPDIR=" + work_.path());
  }
  return command;
}

std::string CommandBuilder::TextFor(const TextTemplate::Placeholder& hole,
                                    const space::Configuration* configuration) const {
  const int parameter = configuration == nullptr ? -1 : space_->IndexOf(hole.name);
  if (parameter < 0) return hole.name == "work" ? work_.path() : options_.here;
  const space::Value value = space_->ValueOf(*configuration, parameter);
  if (hole.index < 0) return TextOf(value);
  return fmt::format("{}", std::get<std::vector<int64_t>>(value).at(hole.index));
}

}  // namespace bayloom::search
