// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/kernel/kernel_compiler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "bayloom/base/clock.h"
#include "bayloom/base/file.h"
#include "bayloom/base/run_command.h"
#include "bayloom/base/single_line.h"
#include "bayloom/search/command_builder.h"
#include "bayloom/space/evaluate_expression.h"

namespace bayloom::kernel {
namespace {

using search::KernelDefinition;
using Language = KernelDefinition::Language;

/// What the environment names, or the usual program.
std::string CompilerOf(Language language, const std::string& chosen) {
  if (!chosen.empty()) return chosen;
  const bool is_c = language == Language::kC;
  const char* const variable = is_c ? "CC" : language == Language::kCpp ? "CXX" : "FC";
  if (const char* const named = std::getenv(variable); named != nullptr && *named != '\0') {
    return named;
  }
  return is_c ? "cc" : language == Language::kCpp ? "c++" : "gfortran";
}

/// The first line of a compiler's messages that speaks of an error, else the last.
std::string FirstError(const std::string& messages) {
  for (size_t begin = 0; begin < messages.size();) {
    const size_t end = std::min(messages.find('\n', begin), messages.size());
    const std::string line = messages.substr(begin, end - begin);
    if (line.find("rror:") != std::string::npos || line.starts_with("Error")) {
      return base::SingleLine(line);
    }
    begin = end + 1;
  }
  return base::LastLine(messages);
}

/// A number as C reads it: whole ones without a point.
std::string MacroText(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) {
    return fmt::format("{}", static_cast<int64_t>(value));
  }
  return fmt::format("{}", value);
}

CompiledKernel Failed(trial::Verdict verdict, std::string reason) {
  return {.library = {}, .verdict = verdict, .reason = std::move(reason)};
}

/// What the end of the compiler's process means; ok where it made the library.
CompiledKernel Judge(const base::CommandResult& result, const base::Command& command) {
  using End = base::CommandResult::End;
  switch (result.end) {
    case End::kNotStarted:
      throw InputError(fmt::format("cannot compile: {}", result.start_error));
    case End::kTimedOut:
      return Failed(trial::Verdict::kTimeout,
                    fmt::format("compiling it did not end within {:g} s", command.timeout_seconds));
    case End::kMemory:
      return Failed(trial::Verdict::kMemory,
                    fmt::format("compiling it needs more than {:.0f} MB",
                                static_cast<double>(command.memory_limit_bytes) / 1e6));
    default:
      if (result.status.Success()) return {};
      const std::string error = FirstError(result.error_output);
      return Failed(trial::Verdict::kBuildError,
                    error.empty()
                        ? fmt::format("the compiler ended with {}", result.status.Describe())
                        : error);
  }
}

}  // namespace

KernelCompiler::KernelCompiler(std::shared_ptr<const space::Space> space,
                               const search::EvaluatorOptions& options)
    : space_(std::move(space)), options_(options) {
  const KernelDefinition& kernel = *options_.kernel;
  for (int i = 0; i < space_->size(); ++i) {
    const std::string& name = space_->parameter(i).name();
    const bool is_argument =
        std::ranges::find(kernel.arguments, name, &search::KernelArgument::name) !=
        kernel.arguments.end();
    const bool is_flag = std::ranges::any_of(kernel.flags, [&](const search::TextTemplate& flag) {
      const auto holes = flag.Placeholders();
      return std::ranges::find(holes, name, &search::TextTemplate::Placeholder::name) !=
             holes.end();
    });
    is_macro_.push_back(kernel.defines_parameters && !is_argument && !is_flag);
  }
}

Result<std::vector<std::pair<std::string, std::string>>> KernelCompiler::Macros(
    const space::Configuration& configuration, const Values& size) const {
  std::vector<std::pair<std::string, std::string>> macros;
  for (int i = 0; i < space_->size(); ++i) {
    if (!is_macro_[static_cast<size_t>(i)] || !space_->IsActive(configuration, i)) continue;
    macros.emplace_back(space_->parameter(i).name(),
                        search::TextOf(space_->ValueOf(configuration, i)));
  }
  const Values values = WithParameters(size, *space_, configuration);
  for (const auto& [name, expression] : options_.kernel->defines) {
    if (const auto text = values.find(expression); text != values.end()) {
      macros.emplace_back(name, search::TextOf(text->second));
      continue;
    }
    const Result<double> value = space::EvaluateExpression(expression, values);
    if (!value) return Error{fmt::format("the macro '{}': {}", name, value.error().message)};
    macros.emplace_back(name, MacroText(*value));
  }
  return macros;
}

std::vector<std::string> KernelCompiler::Flags(const space::Configuration& configuration) const {
  search::EvaluatorOptions flags;
  flags.arguments = options_.kernel->flags;
  flags.here = options_.here;
  return search::CommandBuilder(space_, flags).Fill(configuration).arguments;
}

Result<std::vector<std::string>> KernelCompiler::CommandOf(
    const KernelFunction& function, const space::Configuration& configuration,
    const Values& size) const {
  const KernelDefinition& kernel = *options_.kernel;
  const bool is_own = function.language == kernel.language;
  std::vector<std::string> command = {CompilerOf(function.language, is_own ? kernel.compiler : "")};
  if (is_own) {
    const std::vector<std::string> flags = Flags(configuration);
    command.insert(command.end(), flags.begin(), flags.end());
  } else {
    command.emplace_back("-O2");
  }
  const auto macros = Macros(configuration, size);
  if (!macros) return macros.error();
  for (const auto& [name, value] : *macros) command.push_back(fmt::format("-D{}={}", name, value));
  command.insert(command.end(), {"-shared", "-fPIC"});
  if (function.language == Language::kFortran) {
    command.insert(command.end(), {"-cpp", function.source});
  }
  return command;
}

std::optional<CompiledKernel> KernelCompiler::Compile(const KernelFunction& function,
                                                      const space::Configuration& configuration,
                                                      const Values& size,
                                                      const std::stop_token& stop) {
  const Result<std::vector<std::string>> command = CommandOf(function, configuration, size);
  if (!command) return Failed(trial::Verdict::kBuildError, command.error().message);
  const std::string shim = ShimOf(function, *options_.kernel);
  const std::string key = fmt::format("{}\n{}", fmt::join(*command, "\n"), shim);
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
  }
  std::optional<CompiledKernel> compiled =
      Run(*command, shim, function.language == Language::kCpp, stop);
  if (!compiled) return std::nullopt;
  const std::lock_guard lock(mutex_);
  known_[key] = *compiled;
  known_[key].seconds = 0;  // counts once
  return compiled;
}

std::optional<CompiledKernel> KernelCompiler::Run(std::vector<std::string> arguments,
                                                  const std::string& shim, bool is_cpp,
                                                  const std::stop_token& stop) {
  int64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = compiled_++;
  }
  // Modules of Fortran are written to where the compiler runs.
  const std::string folder = folder_ / fmt::format("{}", number);
  base::CreateFolder(folder);
  const std::string shim_path = fmt::format("{}/shim.{}", folder, is_cpp ? "cc" : "c");
  base::WriteFile(shim_path, shim);
  const std::string library = folder + "/kernel.so";
  arguments.insert(arguments.end(), {shim_path, "-o", library, "-lm"});
  base::Command command;
  command.arguments = std::move(arguments);
  command.directory = folder;
  command.environment = {"LC_ALL=C"};
  command.timeout_seconds = options_.timeout;
  command.memory_limit_bytes = options_.memory_limit_bytes;
  if (options_.sandbox) {
    command.sandbox = base::Sandbox{.writable_folder = folder};
    command.environment.push_back("TMPDIR=" + folder);
  }
  const double start = base::MonotonicSeconds();
  const base::CommandResult result = base::RunCommand(command, stop);
  if (result.end == base::CommandResult::End::kStopped) return std::nullopt;
  CompiledKernel compiled = Judge(result, command);
  compiled.seconds = base::MonotonicSeconds() - start;
  if (compiled.verdict == trial::Verdict::kOk) compiled.library = library;
  return compiled;
}

}  // namespace bayloom::kernel
