// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/fuzz/try.h"

#include <exception>
#include <fstream>
#include <new>
#include <string_view>
#include <system_error>

#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/base/system_error.h"
#include "tests/fuzz/reader.h"

namespace bayloom::fuzz {
namespace {

constexpr size_t kMaxMessageBytes = 1000;

}  // namespace

std::string_view ToString(Verdict verdict) {
  constexpr std::string_view kNames[kVerdicts] = {"accepted", "refused", "machine", "bad message",
                                                  "internal error"};
  return kNames[static_cast<int>(verdict)];
}

Finding Try(const std::string& input) {
  try {
    Read(input);
    return {};
  } catch (const InputError& error) {
    const std::string message = error.what();
    const bool is_fine = !message.empty() && message.size() <= kMaxMessageBytes &&
                         base::SingleLine(message, kMaxMessageBytes) == message;
    return {is_fine ? Verdict::kRefused : Verdict::kBadMessage, message};
  } catch (const SystemError& error) {
    return {Verdict::kMachine, error.what()};
  } catch (const std::system_error& error) {
    return {Verdict::kMachine, error.what()};
  } catch (const std::bad_alloc&) {
    return {Verdict::kMachine, "out of memory"};
  } catch (const std::exception& error) {
    return {Verdict::kInternalError, error.what()};
  }
}

std::string WriteScratch(const std::string& name, const std::string& input) {
  std::string path = ScratchPath() + "/" + name;
  std::ofstream(path, std::ios::binary).write(input.data(), std::ssize(input));
  return path;
}

}  // namespace bayloom::fuzz
