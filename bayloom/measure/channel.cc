// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/channel.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

#include "bayloom/base/clock.h"

namespace bayloom::measure {
namespace {

struct Header {
  uint32_t magic = kMagic;
  uint32_t type = 0;
  uint64_t size = 0;

  static constexpr uint32_t kMagic = 0x6d6f6f4c;
  static constexpr uint64_t kMaxSize = uint64_t{1} << 30;
};

/// Room for one descriptor that travels along.
union ControlBuffer {
  cmsghdr align;
  char bytes[CMSG_SPACE(sizeof(int))];
};

}  // namespace

Channel& Channel::operator=(Channel&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

Channel::~Channel() {
  if (descriptor_ >= 0) close(descriptor_);
}

Result<std::pair<Channel, Channel>> Channel::MakePair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return Error{fmt::format("cannot open a socket pair: {}", std::strerror(errno))};
  }
  return std::pair(Channel(ends[0]), Channel(ends[1]));
}

bool Channel::Send(uint32_t type, std::string_view body, int descriptor) {
  Header header;
  header.type = type;
  header.size = body.size();
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
  bytes.append(body);

  size_t sent = 0;
  while (sent < bytes.size()) {
    iovec vector = {bytes.data() + sent, bytes.size() - sent};
    msghdr message = {};
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    ControlBuffer control = {};
    if (descriptor >= 0 && sent == 0) {
      message.msg_control = control.bytes;
      message.msg_controllen = sizeof(control.bytes);
      cmsghdr* item = CMSG_FIRSTHDR(&message);
      item->cmsg_level = SOL_SOCKET;
      item->cmsg_type = SCM_RIGHTS;
      item->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(item), &descriptor, sizeof(int));
    }
    const ssize_t count = sendmsg(descriptor_, &message, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    sent += static_cast<size_t>(count);
  }
  return true;
}

Channel::Event Channel::ReceiveBytes(char* bytes, size_t count, double deadline, int& descriptor) {
  size_t received = 0;
  while (received < count) {
    const double left = deadline - base::MonotonicSeconds();
    if (left < 0) return Event::kTimeout;
    pollfd ready = {descriptor_, POLLIN, 0};
    const int milliseconds =
        std::isinf(deadline) ? -1 : static_cast<int>(std::ceil(std::min(left, 1e6) * 1000));
    if (poll(&ready, 1, milliseconds) <= 0) continue;
    iovec vector = {bytes + received, count - received};
    msghdr message = {};
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    ControlBuffer control = {};
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof(control.bytes);
    const ssize_t got = recvmsg(descriptor_, &message, MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Event::kClosed;
    received += static_cast<size_t>(got);
    for (cmsghdr* item = CMSG_FIRSTHDR(&message); item; item = CMSG_NXTHDR(&message, item)) {
      if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS) continue;
      if (descriptor >= 0) close(descriptor);
      std::memcpy(&descriptor, CMSG_DATA(item), sizeof(int));
    }
  }
  return Event::kMessage;
}

bool Channel::WaitReadable(double seconds) const {
  pollfd ready = {descriptor_, POLLIN, 0};
  return poll(&ready, 1, static_cast<int>(std::ceil(std::max(seconds, 0.0) * 1000))) > 0;
}

Channel::Received Channel::Receive(double seconds) {
  const double deadline =
      seconds < 0 ? std::numeric_limits<double>::infinity() : base::MonotonicSeconds() + seconds;
  Received result;
  Header header;
  result.event =
      ReceiveBytes(reinterpret_cast<char*>(&header), sizeof(header), deadline, result.descriptor);
  if (result.event != Event::kMessage) return result;
  if (header.magic != Header::kMagic || header.size > Header::kMaxSize) {
    result.event = Event::kGarbage;
    return result;
  }
  result.type = header.type;
  result.body.resize(header.size);
  result.event = ReceiveBytes(result.body.data(), result.body.size(), deadline, result.descriptor);
  return result;
}

std::string_view BodyReader::Bytes(uint64_t count) {
  if (count > body_.size()) throw std::out_of_range("the message ends early");
  const std::string_view bytes = body_.substr(0, count);
  body_.remove_prefix(count);
  return bytes;
}

}  // namespace bayloom::measure
