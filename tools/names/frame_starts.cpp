#include "tools/names/frame_starts.hpp"

#include <algorithm>
#include <cstring>
#include <gelf.h>

namespace libprofile::tools {

namespace {

constexpr unsigned char udata4 = 0x03, pcrel_sdata4 = 0x1b, datarel_sdata4 = 0x3b; // DW_EH_PE_*, what linkers on x86-64 write

class Image {
  public:
    explicit Image(Elf* elf) : bytes_(elf_rawfile(elf, &size_)) {
        std::size_t count = 0;
        if (bytes_ == nullptr || elf_getphdrnum(elf, &count) != 0) return;
        for (std::size_t i = 0; i < count; ++i) {
            GElf_Phdr header;
            if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr) continue;
            if (header.p_type == PT_LOAD) loads_.push_back(header);
            if (header.p_type == PT_GNU_EH_FRAME) table_ = header.p_vaddr;
        }
    }
    std::uint64_t table() const { return table_; } // 0 if there is none

    /// @return false: nothing is there
    template <class Value> bool read(std::uint64_t address, Value& value) const {
        for (const GElf_Phdr& load : loads_) {
            if (address < load.p_vaddr || address - load.p_vaddr >= load.p_filesz || load.p_filesz - (address - load.p_vaddr) < sizeof value) continue;
            const std::uint64_t at = load.p_offset + (address - load.p_vaddr);
            if (at > size_ || size_ - at < sizeof value) return false;
            std::memcpy(&value, bytes_ + at, sizeof value);
            return true;
        }
        return false;
    }

  private:
    std::size_t size_ = 0;
    const char* bytes_;
    std::vector<GElf_Phdr> loads_;
    std::uint64_t table_ = 0;
};

} // namespace

FrameStarts::FrameStarts(Elf* elf) {
    const Image image(elf);
    struct {
        unsigned char version, frame_code, count_code, table_code;
        std::int32_t frame;
        std::uint32_t count;
    } header;
    if (elf == nullptr || image.table() == 0 || !image.read(image.table(), header) || header.version != 1 || header.frame_code != pcrel_sdata4 ||
        header.count_code != udata4 || header.table_code != datarel_sdata4)
        return;
    for (std::uint32_t i = 0; i < header.count; ++i) {
        std::int32_t entry[2]; // begin of the function, its description
        if (!image.read(image.table() + sizeof header + i * sizeof entry, entry)) break;
        const std::uint64_t begin = image.table() + static_cast<std::uint64_t>(std::int64_t{entry[0]});
        struct {
            std::uint32_t length, common;
            std::int32_t begin; // relative to itself
            std::uint32_t size;
        } description;
        const std::uint64_t at = image.table() + static_cast<std::uint64_t>(std::int64_t{entry[1]});
        if (!image.read(at, description) || at + 8 + static_cast<std::uint64_t>(std::int64_t{description.begin}) != begin || description.size == 0)
            continue; // written otherwise, so that its end is not known
        functions_.emplace_back(begin, begin + description.size);
    }
    std::sort(functions_.begin(), functions_.end());
}

std::optional<std::uint64_t> FrameStarts::of(std::uint64_t address) const {
    auto after = std::upper_bound(functions_.begin(), functions_.end(), std::pair(address, ~std::uint64_t{0}));
    if (after == functions_.begin() || address >= (--after)->second) return std::nullopt;
    return after->first;
}

} // namespace libprofile::tools
