#include "libprofile/callpath/python_process.hpp"

#include "libprofile/callpath/dynamic_symbols.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/callpath/safe_memory.hpp"

#include <cstring>
#include <pthread.h>

namespace libprofile {

constinit PythonProcess python_process;

namespace {

bool may_be_python(const Module& module) {
    const char* slash = std::strrchr(module.path, '/');
    const char* name = slash == nullptr ? module.path : slash + 1;
    return module.is_executable || std::strncmp(name, "libpython", 9) == 0;
}

} // namespace

void PythonProcess::look_for_new() noexcept {
    if (!is_on_ || is_known()) return;
    for (; looked_at_ < load_map.size(); ++looked_at_) {
        const Module& module = load_map[looked_at_];
        if (!may_be_python(module) || !module.loaded.load(std::memory_order_acquire)) continue;
        const auto find = [&](const char* name) { return find_dynamic_symbol(module.bias, module.headers, module.header_count, name); };
        const std::uintptr_t version_at = find("Py_Version");
        std::uint64_t version = 0;
        if (version_at == 0 || SafeMemory::read_pieces(&version_at, 1, &version, sizeof version) != 1) continue;
        const PythonLayout* layout = find_python_layout(version);
        runtime_ = find("_PyRuntime");
        code_type_ = find("PyCode_Type");
        text_type_ = find("PyUnicode_Type");
        bytes_type_ = find("PyBytes_Type");
        const bool is_debugging = find("_Py_RefTotal") != 0; // its objects are larger
        if (layout == nullptr || is_debugging || runtime_ == 0 || code_type_ == 0 || text_type_ == 0 || bytes_type_ == 0) continue;
        begin_ = module.start;
        end_ = module.end;
        layout_.store(layout, std::memory_order_release);
        return;
    }
}

std::uintptr_t PythonProcess::known_state() const noexcept {
    // glibc reads the thread's own data: no lock, no allocation, 0 for keys that do not exist.
    const std::uint64_t key = key_.load(std::memory_order_relaxed);
    return (key & 0xffffffffu) == 0 ? 0 : reinterpret_cast<std::uintptr_t>(pthread_getspecific(static_cast<pthread_key_t>(key >> 32)));
}

std::uintptr_t PythonProcess::own_state() noexcept {
    const std::uintptr_t state = known_state();
    if (state != 0 || runtime_ == 0) return state;
    // Not known to Python, or Python has begun, or ended and begun again.
    const std::uintptr_t at = runtime_ + layout().thread_key;
    std::uint64_t key = 0;
    if (SafeMemory::read_pieces(&at, 1, &key, sizeof key) != 1 || (key & 0xffffffffu) != 1) return 0;
    key_.store(key, std::memory_order_relaxed);
    return known_state();
}

void PythonProcess::fabricate(const PythonLayout& layout, std::uintptr_t code_type, std::uintptr_t text_type, std::uintptr_t bytes_type) noexcept {
    code_type_ = code_type;
    text_type_ = text_type;
    bytes_type_ = bytes_type;
    layout_.store(&layout, std::memory_order_release);
}

} // namespace libprofile
