#include "libprofile/sampling/skip.hpp"

#include "libprofile/base/loaded_objects.hpp"

#include "libprofile/thread/thread.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

extern "C" void* __tls_get_addr(void*); // in the loader

namespace libprofile {

namespace {

struct Range {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    bool has(std::uintptr_t address) const { return address >= begin && address < end; }
};
Range loader;
Range own; // libprofile.so
// Functions of the loader that change nothing and are frequent in some programs. They find thread-local variables, and the module of an address while
// an exception is unwound.
Range harmless[2];

Range range_of(const void* function) {
    Dl_info symbol{};
    void* entry = nullptr;
    if (dladdr1(function, &symbol, &entry, RTLD_DL_SYMENT) == 0 || entry == nullptr) return {};
    const auto begin = reinterpret_cast<std::uintptr_t>(symbol.dli_saddr);
    return {begin, begin + static_cast<const ElfW(Sym)*>(entry)->st_size};
}

Range module_range(void* function) {
    LoadedObject object;
    if (!find_loaded_object(reinterpret_cast<std::uintptr_t>(function), object)) return {};
    return {object.start, object.end};
}

} // namespace

void know_modules() noexcept {
    void* function = reinterpret_cast<void*>(__tls_get_addr);
    loader = module_range(function);
    own = module_range(reinterpret_cast<void*>(&know_modules));
    harmless[0] = range_of(function);
    harmless[1] = loaders_own_search() != nullptr ? range_of(loaders_own_search()) : Range{};
}

bool is_own_code(std::uintptr_t instruction) noexcept { return own.has(instruction) && !is_mark_code(instruction); }

SkipReason why_not_unwound(std::uintptr_t instruction) noexcept {
    // A return passes through the mark, so the stack must not be touched.
    if (is_mark_code(instruction)) return SkipReason::AtMark;
    // A stack that we do not know (an application's signal handler, a coroutine) may have little room left.
    if (!is_own_stack(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)))) return SkipReason::ForeignStack;
    // The loader changes the very tables that are needed for unwinding.
    if (loader.has(instruction) && !harmless[0].has(instruction) && !harmless[1].has(instruction)) return SkipReason::InLoader;
    return SkipReason::None;
}

} // namespace libprofile
