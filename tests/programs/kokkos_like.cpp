// kokkos_like: handles KOKKOS_TOOLS_LIBS as Kokkos does: it opens the library, looks up functions by name and calls those that exist, with
// the published signatures. `kokkos_like sections` then creates the section "step" 5000 times, and 5000 other sections.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

namespace {

struct SpaceHandle {
    char name[64];
};

void* library = nullptr;

template <class Function> Function* find(const char* name) {
    Function* function = nullptr;
    if (library != nullptr) *reinterpret_cast<void**>(&function) = dlsym(library, name);
    return function;
}
template <class... Arguments> void call(const char* name, Arguments... arguments) {
    if (auto* function = find<void(Arguments...)>(name)) function(arguments...);
}
template <class Work> void kernel(const char* operation, const char* name, Work work) {
    char text[64];
    std::uint64_t id = 0;
    std::snprintf(text, sizeof text, "kokkosp_begin_%s", operation);
    call<const char*, std::uint32_t, std::uint64_t*>(text, name, 0x2000001, &id);
    work();
    std::snprintf(text, sizeof text, "kokkosp_end_%s", operation);
    call<std::uint64_t>(text, id);
}

void visit_section(const char* name) {
    std::uint32_t section = 0;
    call<const char*, std::uint32_t*>("kokkosp_create_profile_section", name, &section);
    call<std::uint32_t>("kokkosp_start_profile_section", section);
    call<std::uint32_t>("kokkosp_stop_profile_section", section);
    call<std::uint32_t>("kokkosp_destroy_profile_section", section);
}

} // namespace

int main(int argc, char**) {
    if (const char* name = std::getenv("KOKKOS_TOOLS_LIBS")) {
        library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
        if (library == nullptr) return 1;
    }
    call<int, std::uint64_t, std::uint32_t, void*>("kokkosp_init_library", 0, 20211015, 0, nullptr);
    volatile double sum = 0;
    std::uint32_t section = 0;
    call<const char*, std::uint32_t*>("kokkosp_create_profile_section", "halo", &section);
    for (int step = 0; step < 10; ++step) {
        call<const char*>("kokkosp_push_profile_region", "time step");
        kernel("parallel_for", "axpy", [&] { for (int i = 0; i < 1000; ++i) sum = sum + i; });
        kernel("parallel_reduce", "dot", [&] { for (int i = 0; i < 1000; ++i) sum = sum + 1; });
        if (step < 3) {
            call<std::uint32_t>("kokkosp_start_profile_section", section);
            call<std::uint32_t>("kokkosp_stop_profile_section", section);
        }
        call<>("kokkosp_pop_profile_region");
    }
    kernel("parallel_scan", "offsets", [&] { sum = sum + 1; });
    kernel("fence", "wait", [] {});
    for (int i = 0; i < 2; ++i) {
        call<SpaceHandle, const char*, const void*, SpaceHandle, const char*, const void*, std::uint64_t>(
            "kokkosp_begin_deep_copy", SpaceHandle{"CudaSpace"}, "to", nullptr, SpaceHandle{"HostSpace"}, "from", nullptr, 8);
        call<>("kokkosp_end_deep_copy");
    }
    call<std::uint32_t>("kokkosp_destroy_profile_section", section);
    if (argc > 1) {
        for (int step = 0; step < 5000; ++step) visit_section("step");
        for (int i = 0; i < 5000; ++i) {
            char name[32];
            std::snprintf(name, sizeof name, "section %d", i);
            visit_section(name);
        }
    }
    call<>("kokkosp_finalize_library");
    std::printf("sum %.0f\n", static_cast<double>(sum));
}
