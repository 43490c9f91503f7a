#include "tools/launch/executable.hpp"

#include <cstring>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <string_view>
#include <unistd.h>

namespace libprofile::tools {

namespace {

/// An open ELF file; nullptr for others.
class ElfFile {
  public:
    explicit ElfFile(const std::string& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
        elf_version(EV_CURRENT);
        if (file_ >= 0) elf_ = elf_begin(file_, ELF_C_READ_MMAP, nullptr);
        std::size_t count = 0;
        if (elf_ != nullptr && elf_kind(elf_) == ELF_K_ELF && elf_getphdrnum(elf_, &count) == 0) segments_ = count;
    }
    ElfFile(const ElfFile&) = delete;
    ElfFile& operator=(const ElfFile&) = delete;
    ~ElfFile() {
        elf_end(elf_);
        if (file_ >= 0) ::close(file_);
    }

    bool is_elf() const { return segments_ != 0; }

    /// The path of the dynamic loader; empty without.
    std::string interpreter() const {
        GElf_Phdr header;
        if (!find(PT_INTERP, header)) return "";
        const Elf_Data* data = elf_getdata_rawchunk(elf_, static_cast<std::int64_t>(header.p_offset), header.p_filesz, ELF_T_BYTE);
        if (data == nullptr || data->d_size == 0) return "";
        const char* text = static_cast<const char*>(data->d_buf);
        return {text, ::strnlen(text, data->d_size)};
    }

    /// The dynamic loader has no interpreter either, but a name; it can run programs and preloads for them.
    bool has_name() const {
        GElf_Phdr header;
        if (!find(PT_DYNAMIC, header)) return false;
        Elf_Data* data = elf_getdata_rawchunk(elf_, static_cast<std::int64_t>(header.p_offset), header.p_filesz, ELF_T_DYN);
        GElf_Dyn entry;
        for (int k = 0; data != nullptr && gelf_getdyn(data, k, &entry) != nullptr && entry.d_tag != DT_NULL; ++k)
            if (entry.d_tag == DT_SONAME) return true;
        return false;
    }

    /// The first library that it needs whose name begins so; empty without.
    std::string needed(std::string_view prefix) const {
        std::string found;
        each_entry(SHT_DYNAMIC, [&](Elf_Data* data, const GElf_Shdr& header, int k) {
            GElf_Dyn entry;
            if (gelf_getdyn(data, k, &entry) == nullptr) return false;
            const char* name = entry.d_tag == DT_NEEDED ? elf_strptr(elf_, header.sh_link, entry.d_un.d_val) : nullptr;
            if (name != nullptr && found.empty() && std::string_view(name).starts_with(prefix)) found = name;
            return entry.d_tag != DT_NULL;
        });
        return found;
    }

    bool defines(std::string_view function) const {
        bool found = false;
        each_entry(SHT_DYNSYM, [&](Elf_Data* data, const GElf_Shdr& header, int k) {
            GElf_Sym symbol;
            if (gelf_getsym(data, k, &symbol) == nullptr) return false;
            const char* name = symbol.st_shndx != SHN_UNDEF ? elf_strptr(elf_, header.sh_link, symbol.st_name) : nullptr;
            found = found || (name != nullptr && name == function);
            return !found;
        });
        return found;
    }

  private:
    bool find(GElf_Word type, GElf_Phdr& header) const {
        for (std::size_t i = 0; i < segments_; ++i)
            if (gelf_getphdr(elf_, static_cast<int>(i), &header) != nullptr && header.p_type == type) return true;
        return false;
    }

    template <class Visit> void each_entry(GElf_Word type, Visit visit) const {
        for (Elf_Scn* section = nullptr; is_elf() && (section = elf_nextscn(elf_, section)) != nullptr;) {
            GElf_Shdr header;
            if (gelf_getshdr(section, &header) == nullptr || header.sh_type != type) continue;
            Elf_Data* data = elf_getdata(section, nullptr);
            for (int k = 0; data != nullptr && visit(data, header, k); ++k) {
            }
        }
    }

    int file_;
    Elf* elf_ = nullptr;
    std::size_t segments_ = 0;
};

} // namespace

std::string why_not_measurable(const std::string& path) {
    const ElfFile file(path);
    if (!file.is_elf()) return "";
    const std::string interpreter = file.interpreter();
    if (interpreter.empty() && !file.has_name()) return "is statically linked, so it cannot be measured; link it dynamically";
    if (interpreter.find("/ld-musl") != std::string::npos) return "uses the C library musl, so it cannot be measured; build it with glibc";
    if (file.defines("__msan_init")) return "is checked by MemorySanitizer, so it cannot be measured; build it without -fsanitize=memory";
    return "";
}

std::string address_sanitizer(const std::string& path) { return ElfFile(path).needed("libasan.so"); }

} // namespace libprofile::tools
