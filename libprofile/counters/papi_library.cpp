#include "libprofile/counters/papi_library.hpp"

#include "libprofile/base/nearest_name.hpp"
#include "libprofile/counters/counter_choice.hpp"
#include "libprofile/counters/software_events.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace libprofile {

constinit PapiLibrary papi_library;

namespace {

// Constants of papi.h that are equal in all versions since 5, so no header is needed.
constexpr int lib_version_option = 21; // PAPI_LIB_VERSION
constexpr int null_set = -1;           // PAPI_NULL
constexpr int first_preset = static_cast<int>(0x80000000u);
constexpr int enum_events = 0;             // PAPI_ENUM_EVENTS
constexpr std::size_t longest_name = 1024; // PAPI_MAX_STR_LEN and its kin

unsigned long own_thread_id() { return static_cast<unsigned long>(gettid()); }

/// Returns 0 if the kernel gives a counter of instructions, else errno.
int try_hardware() noexcept {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    const long file = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (file < 0) return errno;
    syscall(SYS_close, file);
    return 0;
}

template <class F> bool look_up(void* library, F& pointer, const char* name) {
    pointer = reinterpret_cast<F>(dlsym(library, name));
    return pointer != nullptr;
}

} // namespace

bool PapiLibrary::find(void* library) noexcept {
    return look_up(library, get_opt_, "PAPI_get_opt") && look_up(library, library_init_, "PAPI_library_init") &&
           look_up(library, thread_init_, "PAPI_thread_init") && look_up(library, name_to_code_, "PAPI_event_name_to_code") &&
           look_up(library, code_to_name_, "PAPI_event_code_to_name") && look_up(library, enum_event_, "PAPI_enum_event") &&
           look_up(library, create_eventset_, "PAPI_create_eventset") && look_up(library, add_event_, "PAPI_add_event") &&
           look_up(library, start_, "PAPI_start") && look_up(library, stop_, "PAPI_stop") && look_up(library, read_, "PAPI_read") &&
           look_up(library, cleanup_eventset_, "PAPI_cleanup_eventset") && look_up(library, destroy_eventset_, "PAPI_destroy_eventset") &&
           look_up(library, strerror_, "PAPI_strerror");
}

bool PapiLibrary::load(char* why, std::size_t size) noexcept {
    if (!tried_) {
        tried_ = true;
        void* library = nullptr;
        for (const char* name : {"libpapi.so.7.2", "libpapi.so.7.1", "libpapi.so.7.0", "libpapi.so.6.0", "libpapi.so.5.7", "libpapi.so"})
            if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) {
            std::snprintf(why_, sizeof why_, "libpapi.so was not found; install PAPI, or add its folder to LD_LIBRARY_PATH");
        } else if (!find(library)) {
            std::snprintf(why_, sizeof why_, "libpapi.so lacks functions that libprofile needs; install PAPI 5.7 or newer");
        } else {
            // PAPI expects a version number and tells its own when asked. It compares major and minor.
            const int version = get_opt_(lib_version_option, nullptr) & static_cast<int>(0xffff0000u);
            const int got = library_init_(version);
            loaded_ = got == version;
            version_ = loaded_ ? static_cast<unsigned>(version) : 0;
            if (!loaded_)
                std::snprintf(why_, sizeof why_, "PAPI_library_init failed (%s)", got < 0 ? strerror_(got) : "another version");
            else
                thread_init_(own_thread_id); // the application may have called it already
        }
    }
    if (!loaded_) std::snprintf(why, size, "%s", why_);
    return loaded_;
}

void PapiLibrary::for_each_preset(void (*visit)(void*, const char*, int), void* context) noexcept {
    char name[longest_name];
    for (int preset = first_preset; code_to_name_(preset, name) == 0;) {
        visit(context, name, preset);
        if (enum_event_(&preset, enum_events) != 0) return;
    }
}

int PapiLibrary::code_of(const char* name) noexcept {
    int code = 0;
    if (name_to_code_(name, &code) == 0) return code;
    // On a processor without counters, PAPI knows presets by number only.
    struct Search {
        const char* name;
        int code;
    } search{name, 0};
    for_each_preset(
        [](void* context, const char* known, int preset) {
            auto* wanted = static_cast<Search*>(context);
            if (std::strcmp(known, wanted->name) == 0) wanted->code = preset;
        },
        &search);
    return search.code;
}

void PapiLibrary::nearest_preset(const char* name, char* found, std::size_t size) noexcept {
    *found = 0;
    struct Search {
        NearestName nearest;
        char* found;
        std::size_t size;
    } search{NearestName(name), found, size};
    for_each_preset(
        [](void* context, const char* known, int) {
            auto* wanted = static_cast<Search*>(context);
            if (wanted->nearest.look_at(known)) std::snprintf(wanted->found, wanted->size, "%s", known);
        },
        &search);
}

int PapiLibrary::make_set(const int* codes, std::size_t count) noexcept {
    int set = null_set;
    int error = create_eventset_(&set);
    if (error != 0) return error;
    for (std::size_t i = 0; i < count && error == 0; ++i) error = add_event_(set, codes[i]);
    if (error == 0) error = start_(set);
    if (error == 0) return set;
    drop_set(set);
    return error;
}

void PapiLibrary::drop_set(int set) noexcept {
    cleanup_eventset_(set);
    destroy_eventset_(&set);
}

bool PapiLibrary::can_count(int code, char* why, std::size_t size) noexcept {
    if (count_ == most_counters) return false;
    codes_[count_] = code;
    const int set = make_set(codes_, count_ + 1);
    if (set >= 0) {
        stop_set(set);
        ++count_;
        return true;
    }
    const int hardware = try_hardware();
    if (hardware != 0)
        describe_refusal(hardware, why, size);
    else
        std::snprintf(why, size, "PAPI says: %s%s", strerror_(set), count_ != 0 ? " (together with the counters before it)" : "");
    return false;
}

int PapiLibrary::start_set() noexcept { return count_ == 0 ? -1 : make_set(codes_, count_); }

bool PapiLibrary::read_set(int set, std::uint64_t* values) noexcept {
    long long read[most_counters] = {};
    if (read_(set, read) != 0) return false;
    std::size_t n = 0;
    for (std::uint32_t i = 0; i < counter_choice.count(); ++i)
        if (counter_choice[i].is_read_from(CounterSource::Papi)) values[i] = read[n] > 0 ? static_cast<std::uint64_t>(read[n]) : 0, ++n;
    return true;
}

void PapiLibrary::stop_set(int set) noexcept {
    long long read[most_counters];
    stop_(set, read);
    drop_set(set);
}

} // namespace libprofile
