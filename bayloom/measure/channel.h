// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bayloom/base/result.h"

namespace bayloom::measure {

/// One end of a stream socket over which two processes exchange messages: a number that says what
/// it is, bytes, and perhaps a file descriptor. Trusts nothing it receives.
class Channel {
 public:
  enum class Event : uint8_t {
    kMessage,
    kClosed,   ///< the other end is gone
    kTimeout,  ///< nothing came in time
    kGarbage,  ///< what came is not a message
  };
  struct Received {
    Event event = Event::kClosed;
    uint32_t type = 0;
    std::string body;
    int descriptor = -1;  ///< the receiver's to close
  };

  Channel() = default;
  explicit Channel(int descriptor) : descriptor_(descriptor) {}
  Channel(Channel&& other) noexcept { *this = std::move(other); }
  Channel& operator=(Channel&& other) noexcept;
  ~Channel();
  /// Two connected ends, closed when another program is executed.
  static Result<std::pair<Channel, Channel>> MakePair();

  int descriptor() const { return descriptor_; }
  /// False if the other end is gone. A descriptor of -1 is not sent.
  bool Send(uint32_t type, std::string_view body, int descriptor = -1);
  /// Whether something can be received within `seconds`: a message's beginning or the end.
  bool WaitReadable(double seconds) const;
  /// Waits at most `seconds` (for ever if negative) for the whole message.
  Received Receive(double seconds);

 private:
  Event ReceiveBytes(char* bytes, size_t count, double deadline, int& descriptor);

  int descriptor_ = -1;
};

/// Puts values together to a message body.
class BodyWriter {
 public:
  template <typename T>
  requires std::is_trivially_copyable_v<T>
  void Put(const T& value) { body_.append(reinterpret_cast<const char*>(&value), sizeof(value)); }
  void Put(std::string_view text) {
    Put(uint64_t{text.size()});
    body_.append(text);
  }
  void Put(const std::string& text) { Put(std::string_view(text)); }
  template <typename T>
  void Put(const std::vector<T>& values) {
    Put(uint64_t{values.size()});
    for (const T& value : values) Put(value);
  }
  std::string Take() { return std::move(body_); }

 private:
  std::string body_;
};

/// Takes them apart again. What runs over the end throws std::out_of_range.
class BodyReader {
 public:
  explicit BodyReader(std::string_view body) : body_(body) {}

  template <typename T>
  requires std::is_trivially_copyable_v<T>
  void Get(T& value) { Bytes(sizeof(value)).copy(reinterpret_cast<char*>(&value), sizeof(value)); }
  void Get(std::string& text) {
    uint64_t size;
    Get(size);
    text = Bytes(size);
  }
  template <typename T>
  void Get(std::vector<T>& values) {
    uint64_t size;
    Get(size);
    values.clear();
    for (uint64_t i = 0; i < size; ++i) Get(values.emplace_back());
  }

 private:
  std::string_view Bytes(uint64_t count);

  std::string_view body_;
};

}  // namespace bayloom::measure
