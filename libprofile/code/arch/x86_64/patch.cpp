#include "libprofile/code/patch.hpp"

#include "libprofile/callpath/load_map.hpp"
#include "libprofile/code/instruction.hpp"

#include <cpuid.h>
#include <cstring>
#include <sys/mman.h>

namespace libprofile {

extern "C" {
[[gnu::visibility("hidden")]] void libprofile_iteration_stub() noexcept;
// Vector registers and their control word: the parts that XSAVE keeps, and their size.
[[gnu::visibility("hidden")]] extern std::uint32_t libprofile_vector_state_parts;
[[gnu::visibility("hidden")]] extern std::uint32_t libprofile_vector_state_size;
constinit std::uint32_t libprofile_vector_state_parts = 0;
constinit std::uint32_t libprofile_vector_state_size = 0;
}

namespace {

using Kind = Instruction::Kind;
constexpr std::size_t jump_size = 5;
constexpr std::uintptr_t page = 4096;
constexpr std::uintptr_t reach = 0x7ff00000; // of a 32-bit distance

} // namespace

/// SSE, AVX and AVX-512; our code touches no others.
bool find_vector_state() noexcept {
    if (libprofile_vector_state_size != 0) return true;
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0) return false;
    unsigned enabled = 0, high = 0;
    __asm__("xgetbv" : "=a"(enabled), "=d"(high) : "c"(0));
    const unsigned parts = enabled & 0xe6;
    if ((parts & 2) == 0) return false;
    unsigned size = 576; // SSE and the header
    for (unsigned part = 2; part < 8; ++part) {
        if ((parts >> part & 1) == 0) continue;
        if (__get_cpuid_count(0xd, part, &a, &b, &c, &d) == 0) return false;
        if (a + b > size) size = a + b;
    }
    if (size > 8192) return false;
    libprofile_vector_state_parts = parts;
    libprofile_vector_state_size = size;
    return true;
}

/// How many bytes of the module may be read at `address`.
std::uintptr_t readable(const Module& module, std::uintptr_t address, bool as_code) noexcept {
    for (std::uint16_t i = 0; i < module.header_count; ++i) {
        const ElfW(Phdr)& header = module.headers[i];
        if (header.p_type != PT_LOAD || (header.p_flags & (as_code ? PF_X : PF_R)) == 0) continue;
        const std::uintptr_t start = module.bias + header.p_vaddr;
        if (address >= start && address < start + header.p_memsz) return start + header.p_memsz - address;
    }
    return 0;
}

/// Maps memory that code at `address` can jump to and back from.
unsigned char* map_near(std::uintptr_t address, const Module& module) noexcept {
    const auto try_at = [](std::uintptr_t wanted) {
        void* pages = mmap(reinterpret_cast<void*>(wanted), page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (pages == MAP_FAILED) return static_cast<unsigned char*>(nullptr);
        if (reinterpret_cast<std::uintptr_t>(pages) == wanted) return static_cast<unsigned char*>(pages);
        munmap(pages, page); // the kernel does not know the flag
        return static_cast<unsigned char*>(nullptr);
    };
    constexpr std::uintptr_t step = 0x10000;
    constexpr std::uintptr_t lowest = 0x10000;
    const std::uintptr_t below = module.start & ~(page - 1);
    // Below the module first: the heap above an executable must be able to grow.
    for (std::uintptr_t distance = step; distance < reach; distance += distance < 64 * step ? step : 64 * step) {
        if (below < lowest + distance || address - (below - distance) > reach) break;
        if (unsigned char* pages = try_at(below - distance)) return pages;
    }
    const std::uintptr_t above = (module.end + page - 1) & ~(page - 1);
    for (std::uintptr_t distance = reach / 2; distance < reach; distance += 64 * step) {
        if (above + distance - address > reach) break;
        if (unsigned char* pages = try_at(above + distance)) return pages;
    }
    return nullptr;
}

namespace {

/// Addresses that no jump may lead to: all replaced bytes but the first. Jumps of the function itself must not lead to the first one either: a loop is
/// no entry.
struct Forbidden {
    std::uintptr_t entry;
    std::uintptr_t from; // after endbr64, else the same
    std::uintptr_t end;
    bool has(std::uintptr_t target) const { return target >= from && target < end && target != entry; }
    bool has_loop(std::uintptr_t target) const { return target >= entry && target < end; }
};

/// Whether a table of jump targets at `table`, distances from it or addresses, leads into the range.
bool table_leads_into(const Module& module, std::uintptr_t table, const Forbidden& forbidden) {
    constexpr std::uintptr_t most = 4096;
    const std::uintptr_t room = readable(module, table, false);
    for (std::uintptr_t i = 0; i < most && (i + 1) * 4 <= room; ++i) {
        std::int32_t distance = 0;
        std::memcpy(&distance, reinterpret_cast<const void*>(table + i * 4), 4);
        const std::uintptr_t target = table + static_cast<std::uintptr_t>(static_cast<std::intptr_t>(distance));
        if (readable(module, target, true) == 0) break;
        if (forbidden.has(target)) return true;
    }
    for (std::uintptr_t i = 0; i < most && (i + 1) * 8 <= room; ++i) {
        std::uintptr_t target = 0;
        std::memcpy(&target, reinterpret_cast<const void*>(table + i * 8), 8);
        if (readable(module, target, true) == 0) break;
        if (forbidden.has(target)) return true;
    }
    return false;
}

/// The parts of a function that its jumps lead to: compilers keep rarely executed code apart.
struct Parts {
    static constexpr unsigned most = 32;
    CodeRange part[most];
    unsigned count = 0;
    bool add(std::uintptr_t address) {
        for (unsigned i = 0; i < count; ++i)
            if (address >= part[i].start && address < part[i].end) return true;
        CodeRange range;
        if (count == most) return false;
        if (find_function_code(address, range)) part[count++] = range; // else a stub of the linker: it only jumps to other functions
        return true;
    }
};

/// Looks for jumps into the range, in the function and in the parts it jumps to.
PatchProblem look_for_jumps(const Module& module, const CodeRange& function, const Forbidden& forbidden) {
    Parts parts;
    parts.part[parts.count++] = function;
    for (unsigned i = 0; i < parts.count; ++i) {
        bool has_tables = false;
        for (int look = 0; look < 2; ++look) {
            for (std::uintptr_t at = parts.part[i].start; at < parts.part[i].end;) {
                const Instruction instruction = decode(at, parts.part[i].end - at);
                switch (instruction.kind) {
                case Kind::Unknown:
                    // Unknown code in functions that are jumped to instead of called does not matter.
                    if (i == 0) return PatchProblem::UnknownCode;
                    at = parts.part[i].end;
                    continue;
                case Kind::Jump:
                case Kind::Branch:
                case Kind::ShortBranch:
                    if (i == 0 ? forbidden.has_loop(instruction.target) : forbidden.has(instruction.target)) return PatchProblem::JumpTarget;
                    if (i == 0 && look == 0 && (instruction.target < function.start || instruction.target >= function.end) && !parts.add(instruction.target))
                        return PatchProblem::UnknownCode;
                    break;
                case Kind::Call:
                    if (forbidden.has(instruction.target)) return PatchProblem::JumpTarget;
                    break;
                case Kind::IndirectJump: has_tables = true; [[fallthrough]];
                default:
                    if (look == 1 && instruction.displacement_at != 0 && table_leads_into(module, instruction.operand, forbidden))
                        return PatchProblem::JumpTarget;
                    if (look == 1 && instruction.table != 0 && table_leads_into(module, instruction.table, forbidden)) return PatchProblem::JumpTarget;
                }
                at += instruction.length;
            }
            if (!has_tables) break;
        }
    }
    return PatchProblem::None;
}

/// Writes code into a page that is not executable yet.
struct Code {
    unsigned char* at;
    bool is_good = true;
    void bytes(std::initializer_list<unsigned> list) {
        for (const unsigned byte : list) *at++ = static_cast<unsigned char>(byte);
    }
    void copy(std::uintptr_t from, std::size_t size) {
        std::memcpy(at, reinterpret_cast<const void*>(from), size);
        at += size;
    }
    void word(std::uint32_t value) {
        std::memcpy(at, &value, sizeof value);
        at += sizeof value;
    }
    /// Writes the distance to `target` from after these four bytes.
    void distance(std::uintptr_t target) {
        const auto value = static_cast<std::intptr_t>(target - (reinterpret_cast<std::uintptr_t>(at) + 4));
        if (value != static_cast<std::int32_t>(value)) is_good = false;
        word(static_cast<std::uint32_t>(value));
    }
};

/// Writes the same instruction for another address. Returns false if it cannot work there.
bool relocate(Code& code, std::uintptr_t at, const Instruction& instruction) {
    switch (instruction.kind) {
    case Kind::Jump:
        code.bytes({0xe9});
        code.distance(instruction.target);
        return true;
    case Kind::Branch:
        code.bytes({0x0f, 0x80u | instruction.condition});
        code.distance(instruction.target);
        return true;
    case Kind::Plain:
    case Kind::Nop:
    case Kind::End:
    case Kind::IndirectJump: break;
    default: return false;
    }
    unsigned char* copy = code.at;
    code.copy(at, instruction.length);
    if (instruction.displacement_at != 0) {
        const auto moved = static_cast<std::intptr_t>(instruction.operand - reinterpret_cast<std::uintptr_t>(code.at));
        if (moved != static_cast<std::int32_t>(moved)) code.is_good = false;
        const auto value = static_cast<std::int32_t>(moved);
        std::memcpy(copy + instruction.displacement_at, &value, sizeof value);
    }
    return true;
}

/// Builds the code near the patched address: it calls the stub, then runs what `rest` writes.
template <class F> PatchProblem build(unsigned char* pages, std::uint32_t site, F rest) {
    void (*const stub)() noexcept = libprofile_iteration_stub;
    std::memcpy(pages, &stub, sizeof stub);
    Code code{pages + 16};
    code.bytes({0x68}); // push
    code.word(site);
    code.bytes({0xff, 0x15}); // call of the address in the first word of the page
    code.distance(reinterpret_cast<std::uintptr_t>(pages));
    code.bytes({0x48, 0x8d, 0x64, 0x24, 0x08}); // lea 8(%rsp), %rsp
    const PatchProblem problem = rest(code);
    if (problem != PatchProblem::None) return problem;
    if (!code.is_good) return PatchProblem::NoMemory;
    return mprotect(pages, page, PROT_READ | PROT_EXEC) == 0 ? PatchProblem::None : PatchProblem::Protected;
}

/// Overwrites `size` bytes of code, in one store if they lie in one word.
PatchProblem write_code(std::uintptr_t at, const unsigned char* bytes, std::size_t size) {
    const std::uintptr_t first = at & ~(page - 1);
    const std::uintptr_t length = ((at + size + page - 1) & ~(page - 1)) - first;
    auto* pages = reinterpret_cast<void*>(first);
    if (mprotect(pages, length, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return PatchProblem::Protected;
    const std::uintptr_t word_at = at & ~std::uintptr_t{7};
    if (at + size <= word_at + 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, reinterpret_cast<const void*>(word_at), 8);
        std::memcpy(reinterpret_cast<unsigned char*>(&word) + (at - word_at), bytes, size);
        __atomic_store_n(reinterpret_cast<std::uint64_t*>(word_at), word, __ATOMIC_SEQ_CST);
    } else {
        std::memcpy(reinterpret_cast<void*>(at), bytes, size);
    }
    mprotect(pages, length, PROT_READ | PROT_EXEC);
    __builtin___clear_cache(reinterpret_cast<char*>(at), reinterpret_cast<char*>(at + size));
    return PatchProblem::None;
}

/// Overwrites `size` bytes at `at` with a jump or call (`opcode`) to the code in `pages`.
PatchProblem lead(std::uintptr_t at, std::size_t size, unsigned opcode, unsigned char* pages) {
    unsigned char bytes[8];
    Code code{bytes};
    if (size == jump_size + 1) code.bytes({0x67}); // a prefix without meaning here
    code.bytes({opcode});
    const auto distance = static_cast<std::intptr_t>(reinterpret_cast<std::uintptr_t>(pages) + 16 - (at + size));
    if (distance != static_cast<std::int32_t>(distance)) return PatchProblem::NoMemory;
    code.word(static_cast<std::uint32_t>(distance));
    return write_code(at, bytes, size);
}

/// Whether the instruction is padding between functions.
bool is_padding(std::uintptr_t at, const Instruction& instruction) {
    CodeRange other;
    return (instruction.kind == Kind::Nop || *reinterpret_cast<const unsigned char*>(at) == 0xcc) && !find_function_code(at, other);
}

PatchProblem patch_call(const Module& module, std::uintptr_t at, const Instruction& call, std::uint32_t site) {
    const bool is_indirect = call.kind == Kind::IndirectCall;
    if (is_indirect ? call.displacement_at == 0 || call.length != jump_size + 1 : call.length != jump_size && call.length != jump_size + 1)
        return PatchProblem::IndirectCall;
    unsigned char* pages = map_near(at, module);
    if (pages == nullptr) return PatchProblem::NoMemory;
    PatchProblem problem = build(pages, site, [&](Code& code) {
        if (is_indirect)
            code.bytes({0xff, 0x25});
        else
            code.bytes({0xe9});
        code.distance(is_indirect ? call.operand : call.target);
        return PatchProblem::None;
    });
    if (problem == PatchProblem::None) problem = lead(at, call.length, 0xe8, pages);
    if (problem != PatchProblem::None) munmap(pages, page);
    return problem;
}

/// Patches the first call of a function, at `at`, if there is no room for a jump before it. The code before it is straight: each entry passes the
/// call once, unless a loop leads back to it.
PatchProblem patch_first_call(const Module& module, const CodeRange& function, std::uintptr_t at, const Instruction& call, std::uint32_t site) {
    const PatchProblem jumps = look_for_jumps(module, function, {function.start, function.start, at + 1});
    if (jumps != PatchProblem::None) return jumps;
    const PatchProblem problem = patch_call(module, at, call, site);
    return problem == PatchProblem::IndirectCall ? PatchProblem::CallFirst : problem;
}

PatchProblem patch_entry(const Module& module, const CodeRange& function, std::uint32_t site) {
    constexpr unsigned char endbr[] = {0xf3, 0x0f, 0x1e, 0xfa}; // stays first: indirect calls may require it
    std::uintptr_t at = function.start;
    if (function.end - at >= sizeof endbr && std::memcmp(reinterpret_cast<const void*>(at), endbr, sizeof endbr) == 0) at += sizeof endbr;
    const std::uintptr_t from = at;
    bool is_straight = true;
    while (at < from + jump_size) {
        const std::uintptr_t room = readable(module, at, true);
        const Instruction instruction = decode(at, at < function.end ? function.end - at : room);
        if (at >= function.end && !is_padding(at, instruction)) return PatchProblem::TooShort;
        if (instruction.kind == Kind::Unknown) return PatchProblem::UnknownCode;
        if (instruction.kind == Kind::Call || instruction.kind == Kind::IndirectCall)
            return is_straight ? patch_first_call(module, function, at, instruction, site) : PatchProblem::CallFirst;
        if (instruction.kind == Kind::ShortBranch) return PatchProblem::JumpTarget;
        is_straight = is_straight && (instruction.kind == Kind::Plain || instruction.kind == Kind::Nop);
        at += instruction.length;
    }
    const PatchProblem jumps = look_for_jumps(module, function, {function.start, from, at});
    if (jumps != PatchProblem::None) return jumps;
    unsigned char* pages = map_near(from, module);
    if (pages == nullptr) return PatchProblem::NoMemory;
    PatchProblem problem = build(pages, site, [&](Code& code) {
        for (std::uintptr_t moved = from; moved < at;) {
            const Instruction instruction = decode(moved, readable(module, moved, true));
            if (!relocate(code, moved, instruction)) return PatchProblem::UnknownCode;
            moved += instruction.length;
        }
        code.bytes({0xe9});
        code.distance(at);
        return PatchProblem::None;
    });
    if (problem == PatchProblem::None) problem = lead(from, jump_size, 0xe9, pages);
    if (problem != PatchProblem::None) munmap(pages, page);
    return problem;
}

} // namespace

PatchProblem patch_code(std::uintptr_t address, std::uint32_t site) noexcept {
    CodeRange function;
    if (!find_vector_state()) return PatchProblem::NotSupported;
    const std::uint32_t number = load_map.find(address);
    if (number == LoadMap::none || !find_function_code(address, function)) return PatchProblem::NoFunction;
    const Module& module = load_map[number];
    if (address == function.start) return patch_entry(module, function, site);
    for (std::uintptr_t at = function.start; at <= address;) {
        const Instruction instruction = decode(at, function.end - at);
        if (instruction.kind == Kind::Unknown) return PatchProblem::UnknownCode;
        const bool is_call = instruction.kind == Kind::Call || instruction.kind == Kind::IndirectCall;
        if (is_call && address < at + instruction.length) return patch_call(module, at, instruction, site);
        at += instruction.length;
    }
    return PatchProblem::NotAnEntry;
}

std::uintptr_t find_call(std::uintptr_t start, std::uintptr_t end, std::uintptr_t& target) noexcept {
    CodeRange function;
    if (!find_function_code(start, function) || end > function.end) return 0;
    for (std::uintptr_t at = function.start; at < end;) {
        const Instruction instruction = decode(at, function.end - at);
        if (instruction.kind == Kind::Unknown) return 0;
        if (at >= start && (instruction.kind == Kind::Call || (instruction.kind == Kind::IndirectCall && instruction.displacement_at != 0))) {
            target = instruction.kind == Kind::Call ? instruction.target : instruction.operand;
            return at;
        }
        at += instruction.length;
    }
    return 0;
}

} // namespace libprofile
