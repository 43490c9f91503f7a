#include "tools/names/waiting.hpp"

#include <algorithm>
#include <iterator>

namespace libprofile::tools {

namespace {

struct Entry {
    std::string_view kind;
    std::string_view name; // matches() of it
};

// Without leading underscores, "GI_", "libc_", "IO_", and "64" or "_nocancel" at the end.
constexpr Entry c_library[] = {
    {"I/O", "read"},
    {"I/O", "write"},
    {"I/O", "pread*"},
    {"I/O", "pwrite*"},
    {"I/O", "readv"},
    {"I/O", "writev"},
    {"I/O", "fsync"},
    {"I/O", "fdatasync"},
    {"I/O", "sync*"},
    {"I/O", "msync"},
    {"I/O", "open"},
    {"I/O", "openat"},
    {"I/O", "close"},
    {"I/O", "ftruncate"},
    {"I/O", "*fallocate"},
    {"I/O", "sendfile"},
    {"I/O", "copy_file_range"},
    {"I/O", "fopen"},
    {"I/O", "fclose"},
    {"I/O", "fread*"},
    {"I/O", "fwrite*"},
    {"I/O", "fflush*"},
    {"I/O", "fgets*"},
    {"I/O", "fputs*"},
    {"I/O", "fprintf"},
    {"I/O", "fscanf"},
    {"I/O", "getline"},
    {"I/O", "getdelim"},
    {"I/O", "rename"},
    {"I/O", "unlink"},
    {"I/O", "mkdir"},
    {"I/O", "stat"},
    {"I/O", "fstat"},
    {"I/O", "fstatat"},
    {"I/O", "readdir"},
    {"lock", "pthread_mutex_*"},
    {"lock", "pthread_rwlock_*"},
    {"lock", "pthread_spin_lock"},
    {"lock", "lll_lock_wait*"},
    {"lock", "pthread_cond_*"},
    {"lock", "pthread_barrier_wait"},
    {"lock", "sem_*wait"},
    {"lock", "new_sem_*wait*"},
    {"lock", "futex*"},
    {"lock", "mtx_lock"},
    {"lock", "cnd_wait"},
    {"lock", "flock"},
    {"lock", "lockf"},
    {"sleep", "nanosleep"},
    {"sleep", "clock_nanosleep"},
    {"sleep", "usleep"},
    {"sleep", "sleep"},
    {"sleep", "pause"},
    {"sleep", "thrd_sleep"},
    {"wait", "poll"},
    {"wait", "ppoll"},
    {"wait", "select"},
    {"wait", "pselect"},
    {"wait", "epoll_*wait*"},
    {"wait", "recv*"},
    {"wait", "send"},
    {"wait", "sendto"},
    {"wait", "sendmsg"},
    {"wait", "accept*"},
    {"wait", "connect"},
    {"wait", "wait4"},
    {"wait", "waitpid"},
    {"wait", "waitid"},
    {"wait", "pthread_*join*"},
};

constexpr Entry libraries[] = {
    {"I/O", "H5F*"},
    {"I/O", "H5D*"},
    {"I/O", "nc_*"},
    {"I/O", "ncmpi_*"},
    {"I/O", "adios2_*"},
    {"I/O", "gfortran_st_*"},
    {"I/O", "std::basic_filebuf*"},
    {"lock", "PyThread_acquire_lock*"},
    {"lock", "std::mutex::lock"},
    {"lock", "std::condition_variable::wait*"},
    {"sleep", "std::this_thread::sleep_*"},
};

void drop_begin(std::string_view& name, std::string_view begin) {
    if (name.size() > begin.size() && name.substr(0, begin.size()) == begin) name.remove_prefix(begin.size());
}

void drop_end(std::string_view& name, std::string_view end) {
    if (name.size() > end.size() && name.substr(name.size() - end.size()) == end) name.remove_suffix(end.size());
}

/// A '*' stands for anything.
bool matches(std::string_view pattern, std::string_view name) {
    const std::size_t star = pattern.find('*');
    if (star == std::string_view::npos) return pattern == name;
    if (name.substr(0, star) != pattern.substr(0, star)) return false;
    pattern.remove_prefix(star + 1);
    for (name.remove_prefix(star); !pattern.empty(); name.remove_prefix(1)) {
        if (matches(pattern, name)) return true;
        if (name.empty()) return false;
    }
    return true;
}

template <std::size_t size> std::string_view find(const Entry (&table)[size], std::string_view name) {
    const Entry* const found = std::find_if(std::begin(table), std::end(table), [&](const Entry& entry) { return matches(entry.name, name); });
    return found == std::end(table) ? std::string_view() : found->kind;
}

} // namespace

std::string_view waiting_kind(std::string_view function, std::string_view module) noexcept {
    const auto drop_underscores = [&] { function.remove_prefix(std::min(function.find_first_not_of('_'), function.size())); };
    drop_underscores();
    if (const std::string_view kind = find(libraries, function); !kind.empty()) return kind;
    if (module.substr(0, 7) != "libc.so" && module.substr(0, 10) != "libpthread") return {};
    drop_begin(function, "GI_");
    drop_underscores();
    drop_begin(function, "libc_");
    drop_begin(function, "IO_");
    drop_end(function, "_nocancel");
    drop_end(function, "64");
    return find(c_library, function);
}

} // namespace libprofile::tools
