#include "libprofile/callpath/personality.hpp"

#include "libprofile/base/loaded_objects.hpp"

#include "libprofile/callpath/linker_stub.hpp"
#include "libprofile/callpath/module_name.hpp"

#include <link.h>

namespace libprofile {

namespace {

const link_map* module_of(std::uintptr_t address) {
    LoadedObject object;
    return find_loaded_object(address, object) ? object.map : nullptr;
}

bool is_familiar(const link_map* module) {
    const char* name = file_name(module->l_name);
    // libc has a __gcc_personality_v0 of its own, which calls the one in libgcc_s.
    return starts_with(name, "libstdc++.so", "libgcc_s.so") || is_c_library(name) ||
           module == module_of(reinterpret_cast<std::uintptr_t>(&has_foreign_personality));
}

} // namespace

bool has_foreign_personality(const UnwindEntry& entry) noexcept {
    std::uintptr_t routine = entry.personality;
    if (routine != 0 && entry.personality_is_indirect) routine = word_at(routine);
    if (routine == 0) return false;
    const link_map* module = module_of(routine);
    if (module == nullptr) return true;
    if (is_familiar(module)) return false;
    std::uintptr_t target = 0;
    if (!follow_stub(routine, target)) return true;
    const link_map* target_module = module_of(target);
    // Before its first use, a slot leads back into the stub's module. It is not resolved then, and nothing speaks against it.
    return target_module != nullptr && target_module != module && !is_familiar(target_module);
}

} // namespace libprofile
