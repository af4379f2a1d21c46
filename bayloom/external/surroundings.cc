#include "bayloom/external/surroundings.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <variant>

#include "bayloom/base/result.h"

namespace bayloom {

WorkFolder::WorkFolder() {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  if (error) folder = "/tmp";
  std::string pattern = folder / "bayloom-work-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) {
    throw InputError(
        fmt::format("cannot make a folder in '{}': {}", folder.string(), std::strerror(errno)));
  }
  path_ = pattern;
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TextOf(const Value& value) {
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
    return fmt::format("{}", fmt::join(*list, ","));
  }
  return ToString(value);
}

CommandFiller::CommandFiller(std::shared_ptr<const Space> space, const EvaluatorOptions& options)
    : space_(std::move(space)), options_(options) {}

ProgramCall CommandFiller::Call(const Configuration& configuration) const {
  return CallWith(&configuration);
}

ProgramCall CommandFiller::CallWith(const Configuration* configuration) const {
  ProgramCall call;
  const auto plain = [&](const TextTemplate::Hole& hole) { return Fill(hole, configuration); };
  const auto quoted = [&](const TextTemplate::Hole& hole) { return ShellQuoted(plain(hole)); };
  for (const TextTemplate& argument : options_.arguments) {
    call.arguments.push_back(options_.is_shell ? argument.Fill(quoted) : argument.Fill(plain));
  }
  for (const auto& [name, text] : options_.environment) {
    call.environment.push_back(name + "=" + text.Fill(plain));
  }
  call.directory = options_.directory;
  call.timeout = options_.timeout;
  call.memory_limit_bytes = options_.memory_limit_bytes;
  return call;
}

std::string CommandFiller::Fill(const TextTemplate::Hole& hole,
                                const Configuration* configuration) const {
  const int parameter = configuration == nullptr ? -1 : space_->IndexOf(hole.name);
  if (parameter < 0) return hole.name == "work" ? work_.path() : options_.here;
  const Value value = space_->ValueOf(*configuration, parameter);
  if (hole.index < 0) return TextOf(value);
  return fmt::format("{}", std::get<std::vector<int64_t>>(value).at(hole.index));
}

}  // namespace bayloom
