#include "wrappers/openmp/libgomp_runtime.hpp"

#include "libprofile/base/messages.hpp"

#include <cstdlib>
#include <dlfcn.h>

namespace libprofile::libgomp {

void* real_entries[EntryCount];
const void* runtime = nullptr;
Question team_size = nullptr, level = nullptr, in_final = nullptr, cancellation = nullptr;

namespace {

struct EntryName {
    const char* name;
    const char* version;
};
constexpr EntryName entry_names[] = {
#define REGION(name, version, result, parameters, arguments) {#name, #version},
#define WAIT(name, version, construct, result, parameters, arguments) {#name, #version},
#define LOCK(name, version, construct, test) {#name, #version}, {#test, #version},
#include "wrappers/openmp/libgomp_entries.def"
#undef REGION
#undef WAIT
#undef LOCK
    {"GOMP_task", "GOMP_2.0"},          {"GOMP_taskloop", "GOMP_4.5"}, {"GOMP_taskloop_ull", "GOMP_4.5"}, {"GOMP_taskgroup_start", "GOMP_4.0"},
    {"GOMP_taskgroup_end", "GOMP_4.0"},
};

void* look_up(void* handle, const EntryName& entry) {
    void* found = dlvsym(handle, entry.name, entry.version);
    return found != nullptr ? found : dlsym(handle, entry.name);
}

/// The runtime's own function, wherever it was loaded: by a plugin, it may be in no scope that we can see.
void* find_entry(const EntryName& entry) {
    void* found = look_up(RTLD_NEXT, entry);
    for (const char* library : {"libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so"}) {
        if (found != nullptr) break;
        void* handle = dlopen(library, RTLD_NOLOAD | RTLD_LAZY);
        if (handle == nullptr) continue;
        found = look_up(handle, entry);
        dlclose(handle);
    }
    return found;
}

/// A runtime whose functions are known here must not be unloaded with the plugin that brought it.
void keep_loaded(const void* function) {
    Dl_info info;
    if (dladdr(function, &info) == 0) return;
    __atomic_store_n(&runtime, info.dli_fbase, __ATOMIC_RELAXED);
    void* module = info.dli_fname != nullptr ? dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_LAZY | RTLD_NODELETE) : nullptr;
    const struct {
        Question* question;
        const char* name;
    } questions[] = {{&level, "omp_get_level"}, {&in_final, "omp_in_final"}, {&cancellation, "omp_get_cancellation"}, {&team_size, "omp_get_num_threads"}};
    for (const auto& [question, name] : questions)
        __atomic_store_n(question, reinterpret_cast<Question>(module != nullptr ? dlsym(module, name) : nullptr), __ATOMIC_RELEASE);
}

} // namespace

/// Finds all entries at the first call, which is made before there are workers: one of these must not wait for the loader, while a
/// library's constructor, which runs under the loader's lock, waits for it. Threads that come at the same time find the same.
[[gnu::cold]] void* resolve(Entry wanted) noexcept {
    for (unsigned i = 0; i < EntryCount; ++i) {
        if (__atomic_load_n(&real_entries[i], __ATOMIC_RELAXED) != nullptr) continue;
        void* found = find_entry(entry_names[i]);
        if (found == nullptr) continue;
        if (i == wanted) keep_loaded(found);
        __atomic_store_n(&real_entries[i], found, __ATOMIC_RELEASE);
    }
    void* found = real_entries[wanted];
    if (found == nullptr) {
        say("error: the program calls %s, which no loaded OpenMP runtime has; load the one of its compiler", entry_names[wanted].name);
        std::abort();
    }
    return found;
}

} // namespace libprofile::libgomp
