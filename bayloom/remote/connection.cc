// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/remote/connection.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "bayloom/base/single_line.h"
#include "bayloom/base/write_ignoring_sigpipe.h"

namespace bayloom::remote {
namespace {

constexpr double kEndSeconds = 1;  ///< for a command that has closed its output
/// What is read of a stream before others have their turn: a command may write without end.
constexpr size_t kMaxAtOnce = size_t{1} << 20;
constexpr size_t kMaxComplaint = 4096;
constexpr size_t kShownComplaint = 300;

}  // namespace

Result<Connection> Connection::Start(const std::string& command) {
  base::SubprocessOptions options;
  options.arguments = {"/bin/sh", "-c", command};
  options.standard_input = options.standard_output = options.standard_error =
      base::ChildStream::kPipe;
  Result<base::Subprocess> child = base::Subprocess::Start(options);
  if (!child) return child.error();
  for (const int end : {child->input(), child->output(), child->error()}) {
    fcntl(end, F_SETFL, O_NONBLOCK);
  }
  return Connection(*std::move(child));
}

void Connection::Write() {
  while (!unsent_.empty()) {
    const ssize_t bytes =
        base::WriteIgnoringSigpipe(child_.input(), unsent_.data(), unsent_.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) break;  // if it is gone, reading shows that
    unsent_.erase(0, static_cast<size_t>(bytes));
  }
}

bool Connection::Transfer(std::vector<std::string>& lines) {
  ReadComplaint();
  Write();
  char buffer[65536];
  for (size_t taken = 0; taken < kMaxAtOnce;) {
    const ssize_t bytes = read(child_.output(), buffer, sizeof(buffer));
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0 && errno == EAGAIN) return true;
    if (bytes <= 0) return false;
    taken += static_cast<size_t>(bytes);
    size_t begin = 0;
    size_t next = unread_.size();  // where a line's end may be
    unread_.append(buffer, static_cast<size_t>(bytes));
    for (size_t end; (end = unread_.find('\n', next)) != std::string::npos; next = begin) {
      lines.push_back(unread_.substr(begin, end - begin));
      begin = end + 1;
    }
    unread_.erase(0, begin);
    if (unread_.size() > kMaxMessageBytes) return false;
  }
  return true;
}

void Connection::ReadComplaint() {
  char buffer[4096];
  for (size_t taken = 0; taken < kMaxAtOnce;) {
    const ssize_t bytes = read(child_.error(), buffer, sizeof(buffer));
    if (bytes <= 0) return;
    taken += static_cast<size_t>(bytes);
    complaint_.append(buffer, static_cast<size_t>(bytes));
    if (complaint_.size() > kMaxComplaint) {
      complaint_.erase(0, complaint_.size() - kMaxComplaint);
    }
  }
}

std::string Connection::Explain() {
  if (unread_.size() > kMaxMessageBytes) return "it wrote a line of more than 64 MiB";
  const std::optional<base::ExitStatus> status = child_.Wait(kEndSeconds);
  ReadComplaint();
  // ssh ends its lines as a terminal in raw mode needs it: "\r\n".
  complaint_.erase(complaint_.find_last_not_of("\r\n") + 1);
  const std::string last = complaint_.substr(complaint_.rfind('\n') + 1);
  const std::string how = status ? status->Describe() : "it closed its output";
  return last.empty() ? how : fmt::format("{}: {}", how, base::SingleLine(last, kShownComplaint));
}

}  // namespace bayloom::remote
