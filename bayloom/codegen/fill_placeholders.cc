// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "bayloom/base/descriptor.h"
#include "bayloom/base/system_error.h"
#include "bayloom/codegen/data_object.h"

namespace bayloom::codegen {
namespace {

/// Where segments lie in the file and in memory, they do so in equal places of pages of any size.
constexpr uint64_t kLargestPage = 65536;

/// A shared library on the disk.
class Library {
 public:
  explicit Library(const std::string& path)
      : path_(path), file_(open(path.c_str(), O_RDWR | O_CLOEXEC)) {
    if (file_.number() < 0) Fail(errno);
    Read(&header_, sizeof(header_), 0);
    segments_.resize(header_.e_phnum);
    sections_.resize(header_.e_shnum);
    Read(segments_.data(), segments_.size() * sizeof(Elf64_Phdr), header_.e_phoff);
    Read(sections_.data(), sections_.size() * sizeof(Elf64_Shdr), header_.e_shoff);
    const Elf64_Shdr& names = sections_[header_.e_shstrndx];
    names_.resize(names.sh_size);
    Read(names_.data(), names_.size(), names.sh_offset);
  }

  Elf64_Shdr& Section(const std::string& name) {
    for (Elf64_Shdr& section : sections_) {
      if (names_.c_str() + section.sh_name == name) return section;
    }
    throw std::logic_error("a library without the section " + name);
  }

  /// Makes room in the file for all of the segment that holds the section, which ends with it.
  /// Where the section is in the file, then.
  int64_t MakeRoom(Elf64_Shdr& section) {
    Elf64_Phdr& segment = SegmentOf(section);
    const uint64_t begin = segment.p_offset, end = begin + segment.p_filesz;
    const uint64_t missing = segment.p_memsz - segment.p_filesz;
    if (missing > 0) MoveOn(end, (missing + kLargestPage - 1) / kLargestPage * kLargestPage);
    segment.p_offset = begin;  // which was moved, too, if nothing of it was there
    segment.p_filesz = segment.p_memsz;
    section.sh_type = SHT_PROGBITS;
    section.sh_offset = segment.p_offset + (section.sh_addr - segment.p_vaddr);
    return static_cast<int64_t>(section.sh_offset);
  }

  void Copy(const DataObject& data, int64_t to) {
    off64_t from = DataObject::Begin(), place = to;
    for (int64_t left = data.bytes(); left > 0;) {
      const ssize_t count = copy_file_range(data.file().number(), &from, file_.number(), &place,
                                            static_cast<size_t>(left), 0);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return CopyByHand(data, from, place, left);
      left -= count;
    }
  }

  void WriteHeaders() {
    Write(&header_, sizeof(header_), 0);
    Write(segments_.data(), segments_.size() * sizeof(Elf64_Phdr), header_.e_phoff);
    Write(sections_.data(), sections_.size() * sizeof(Elf64_Shdr), header_.e_shoff);
  }

 private:
  Elf64_Phdr& SegmentOf(const Elf64_Shdr& section) {
    const auto found = std::ranges::find_if(segments_, [&](const Elf64_Phdr& segment) {
      return segment.p_type == PT_LOAD && section.sh_addr >= segment.p_vaddr &&
             section.sh_addr + section.sh_size <= segment.p_vaddr + segment.p_memsz;
    });
    if (found == segments_.end()) throw std::logic_error("a section that is in no segment");
    return *found;
  }

  /// What lies in the file from there on lies so many bytes further on.
  void MoveOn(uint64_t from, uint64_t bytes) {
    std::string tail(static_cast<size_t>(lseek(file_.number(), 0, SEEK_END)) - from, '\0');
    Read(tail.data(), tail.size(), from);
    Write(tail.data(), tail.size(), from + bytes);
    const auto move = [&](uint64_t& offset) {
      if (offset >= from) offset += bytes;
    };
    move(header_.e_phoff);
    move(header_.e_shoff);
    for (Elf64_Phdr& segment : segments_) move(segment.p_offset);
    for (Elf64_Shdr& section : sections_) move(section.sh_offset);
  }

  /// File systems may not copy by themselves.
  void CopyByHand(const DataObject& data, int64_t from, int64_t to, int64_t bytes) {
    std::string part(std::min<size_t>(static_cast<size_t>(bytes), size_t{1} << 20), '\0');
    while (bytes > 0) {
      const size_t wanted = std::min(part.size(), static_cast<size_t>(bytes));
      const ssize_t count = pread(data.file().number(), part.data(), wanted, from);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) Fail(count < 0 ? errno : EIO);
      Write(part.data(), static_cast<size_t>(count), static_cast<uint64_t>(to));
      from += count;
      to += count;
      bytes -= count;
    }
  }

  void Read(void* to, size_t bytes, uint64_t from) const {
    for (char* place = static_cast<char*>(to); bytes > 0;) {
      const ssize_t count = pread(file_.number(), place, bytes, static_cast<off_t>(from));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) Fail(count < 0 ? errno : EIO);
      place += count;
      from += static_cast<uint64_t>(count);
      bytes -= static_cast<size_t>(count);
    }
  }

  void Write(const void* from, size_t bytes, uint64_t to) {
    for (const char* place = static_cast<const char*>(from); bytes > 0;) {
      const ssize_t count = pwrite(file_.number(), place, bytes, static_cast<off_t>(to));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) Fail(count < 0 ? errno : EIO);
      place += count;
      to += static_cast<uint64_t>(count);
      bytes -= static_cast<size_t>(count);
    }
  }

  [[noreturn]] void Fail(int error) const {
    throw SystemError(
        fmt::format("cannot write '{}': {}", path_, std::generic_category().message(error)));
  }

  std::string path_;
  base::Descriptor file_;
  Elf64_Ehdr header_ = {};
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Shdr> sections_;
  std::string names_;
};

}  // namespace

void FillPlaceholders(const std::string& library, std::span<const DataObject* const> data) {
  Library file(library);
  for (const DataObject* object : data) {
    file.Copy(*object, file.MakeRoom(file.Section(object->SectionName())));
  }
  file.WriteHeaders();
}

}  // namespace bayloom::codegen
