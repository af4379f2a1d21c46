// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/base/subprocess.h"
#include "bayloom/remote/messages.h"

namespace bayloom::remote {

/// The tuner's end of a conversation with a worker: a command whose standard streams lead here.
/// Nothing of it waits. When it is destroyed, or this process ends in any way, the command is
/// killed with all that it has started, and what it has started elsewhere sees the end of its
/// input.
class Connection {
 public:
  /// Fails when no shell can be started. Throws SystemError when there can be no further process.
  static Result<Connection> Start(const std::string& command);

  void Send(const Request& request) { unsent_ += ToLine(request); }
  /// Writes what can be written now.
  void Write();
  /// The same, and reads what is there, up to some amount; the rest is left for the next time. What
  /// arrived is added to the lines. False once the command has ended, or has written more than a
  /// line may have.
  bool Transfer(std::vector<std::string>& lines);
  /// Says that nothing more will be sent; a worker then ends by itself.
  void CloseInput() { child_.CloseInput(); }
  /// Waits for that.
  void AwaitEnd(double seconds) { child_.Wait(std::max(0.0, seconds)); }
  /// Why Transfer was false: how the command ended, and what it last wrote to standard error.
  std::string Explain();

  int output() const { return child_.output(); }
  int input() const { return child_.input(); }
  bool has_unsent() const { return !unsent_.empty(); }

 private:
  explicit Connection(base::Subprocess child) : child_(std::move(child)) {}
  void ReadComplaint();

  base::Subprocess child_;
  std::string unsent_;
  std::string unread_;
  std::string complaint_;  ///< the last of what it wrote to standard error
};

}  // namespace bayloom::remote
