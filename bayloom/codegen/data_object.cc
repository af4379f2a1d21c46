// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/data_object.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "bayloom/base/file.h"
#include "bayloom/base/system_error.h"
#include "bayloom/codegen/abi.h"

namespace bayloom::codegen {
namespace {

/// Sections of the object, in the order of their headers.
enum Section : uint16_t {
  kNoSection,
  kByteSection,
  kNoStackSection,
  kSymbolSection,
  kNameSection,
  kSectionNameSection,
  kSectionCount
};

/// On x86-64 code reaches 2 GiB around it: what may be larger says so, and lies apart.
constexpr uint64_t kLarge = 0x10000000;  // SHF_X86_64_LARGE

/// The bytes follow the file's header.
constexpr int64_t kBegin = sizeof(Elf64_Ehdr);
static_assert(kBegin % target::kBufferAlignment == 0);

template <typename T>
std::string_view AsBytes(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

/// Of sections, which are not empty, so that their symbols lie within.
int64_t SizeOf(int64_t bytes) { return std::max<int64_t>(bytes, 1); }

Elf64_Ehdr HeaderOf(target::TargetKind kind, int64_t section_headers) {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_REL;
  header.e_machine = kind == target::TargetKind::kAArch64 ? EM_AARCH64 : EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_shoff = static_cast<uint64_t>(section_headers);
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = kSectionCount;
  header.e_shstrndx = kSectionNameSection;
  return header;
}

/// Texts, each ended by a zero.
class NameTable {
 public:
  uint32_t Add(std::string_view name) {
    const auto position = static_cast<uint32_t>(text_.size());
    text_.append(name).push_back('\0');
    return position;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_ = std::string(1, '\0');
};

/// What follows the bytes of an object.
class TailWriter {
 public:
  explicit TailWriter(int64_t begin) : begin_(begin) {}

  void Add(Section section, std::string_view name, uint32_t type, std::string_view content) {
    headers_[section].sh_name = names_.Add(name);
    headers_[section].sh_type = type;
    headers_[section].sh_offset = static_cast<uint64_t>(begin_ + std::ssize(text_));
    headers_[section].sh_size = content.size();
    headers_[section].sh_addralign = 1;
    text_ += content;
  }
  Elf64_Shdr& operator[](Section section) { return headers_[section]; }

  /// Ends with the headers of sections; where these begin is set.
  std::string Finish(int64_t& section_headers) {
    headers_[kSectionNameSection].sh_name = names_.Add(".shstrtab");
    const std::string text = names_.text();
    Elf64_Shdr& names = headers_[kSectionNameSection];
    names.sh_type = SHT_STRTAB;
    names.sh_offset = static_cast<uint64_t>(begin_ + std::ssize(text_));
    names.sh_size = text.size();
    names.sh_addralign = 1;
    text_ += text;
    text_.resize((text_.size() + 7) / 8 * 8);
    section_headers = begin_ + std::ssize(text_);
    return text_ + std::string(AsBytes(headers_));
  }

  uint32_t NameOf(std::string_view name) { return names_.Add(name); }

 private:
  int64_t begin_;
  std::string text_;
  NameTable names_;
  Elf64_Shdr headers_[kSectionCount] = {};
};

}  // namespace

DataObject::DataObject(std::string path, std::string symbol, target::TargetKind kind)
    : path_(std::move(path)),
      symbol_(std::move(symbol)),
      kind_(kind),
      file_(open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  if (file_.number() < 0) Fail(errno);
  // The header, until the end is known.
  if (const int error = base::WriteAll(file_.number(), std::string(kBegin, '\0'))) Fail(error);
}

int64_t DataObject::Begin() { return kBegin; }

void DataObject::Append(std::string_view bytes) {
  if (const int error = base::WriteAll(file_.number(), bytes)) Fail(error);
  bytes_ += std::ssize(bytes);
}

bool DataObject::IsAt(int64_t position, std::string_view bytes) const {
  std::string there(std::min<size_t>(bytes.size(), size_t{1} << 20), '\0');
  position += kBegin;
  while (!bytes.empty()) {
    const size_t wanted = std::min(bytes.size(), there.size());
    const ssize_t count = pread(file_.number(), there.data(), wanted, position);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) Fail(errno);
    if (count == 0) return false;  // the file ends before
    if (std::memcmp(there.data(), bytes.data(), static_cast<size_t>(count)) != 0) return false;
    bytes.remove_prefix(static_cast<size_t>(count));
    position += count;
  }
  return true;
}

std::string DataObject::Tail(bool is_placeholder) const {
  const int64_t size = SizeOf(bytes_);
  const int64_t begin = is_placeholder ? kBegin : kBegin + target::AlignUp(size);
  Elf64_Sym symbols[2] = {};
  NameTable names;
  symbols[1].st_name = names.Add(symbol_);
  symbols[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
  symbols[1].st_other = STV_HIDDEN;
  symbols[1].st_shndx = kByteSection;
  symbols[1].st_size = static_cast<uint64_t>(bytes_);
  TailWriter tail(begin);
  Elf64_Shdr& bytes = tail[kByteSection];
  bytes.sh_name = tail.NameOf(SectionName());
  bytes.sh_type = is_placeholder ? SHT_NOBITS : SHT_PROGBITS;
  bytes.sh_flags = SHF_ALLOC | (kind_ == target::TargetKind::kX86_64 ? kLarge : 0);
  bytes.sh_offset = kBegin;
  bytes.sh_size = static_cast<uint64_t>(size);
  bytes.sh_addralign = target::kBufferAlignment;
  tail.Add(kSymbolSection, ".symtab", SHT_SYMTAB, AsBytes(symbols));
  tail[kSymbolSection].sh_link = kNameSection;
  tail[kSymbolSection].sh_info = 1;  // the first that is global
  tail[kSymbolSection].sh_entsize = sizeof(Elf64_Sym);
  tail[kSymbolSection].sh_addralign = alignof(Elf64_Sym);
  tail.Add(kNameSection, ".strtab", SHT_STRTAB, names.text());
  tail.Add(kNoStackSection, ".note.GNU-stack", SHT_PROGBITS, "");
  int64_t section_headers = 0;
  std::string text = tail.Finish(section_headers);
  return std::string(AsBytes(HeaderOf(kind_, section_headers))) + text;
}

void DataObject::Finish() {
  std::string tail = Tail(false);
  const std::string header = tail.substr(0, kBegin);
  const int64_t padding = target::AlignUp(SizeOf(bytes_)) - bytes_;
  tail.replace(0, kBegin, static_cast<size_t>(padding), '\0');
  if (const int error = base::WriteAll(file_.number(), tail)) Fail(error);
  if (lseek(file_.number(), 0, SEEK_SET) < 0) Fail(errno);
  if (const int error = base::WriteAll(file_.number(), header)) Fail(error);
}

void DataObject::WritePlaceholder(const std::string& path) const {
  base::WriteFile(path, Tail(true));
}

void DataObject::Fail(int error) const {
  throw SystemError(
      fmt::format("cannot write '{}': {}", path_, std::generic_category().message(error)));
}

}  // namespace bayloom::codegen
