#include "libprofile/output/output_folder.hpp"

#include "libprofile/base/folder_entries.hpp"
#include "libprofile/base/messages.hpp"
#include "libprofile/base/process.hpp"
#include "libprofile/output/profile_writer.hpp"
#include "libprofile/output/safe_files.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <sys/stat.h>
#include <unistd.h>

namespace libprofile {

constinit OutputFolder output_folder;

namespace {

constexpr int most_siblings = 1000;

using FilePath = char[OutputFolder::path_size + 64];

void path_of(const char* folder, const char* name, FilePath& path) { std::snprintf(path, sizeof path, "%s/%s", folder, name); }

/// Makes a new small file. After an error it does not exist.
int write_text(const char* folder, const char* name, const char* text, std::size_t size) {
    FilePath path;
    path_of(folder, name, path);
    if (exceeds_file_limit(size)) return EFBIG;
    const int file = open_new(path);
    if (file < 0) return -file;
    const ssize_t written = write(file, text, size);
    const int error = written == static_cast<ssize_t>(size) ? 0 : (written < 0 ? errno : ENOSPC);
    close(file);
    if (error != 0) unlink(path);
    return error;
}

void remove(const char* folder, const char* name) {
    FilePath path;
    path_of(folder, name, path);
    unlink(path);
}

/// Clocks of hosts and file servers are not further apart.
constexpr std::time_t clock_tolerance_s = 300;

/// Launchers on other machines and in containers may repeat the names by which keys tell jobs apart, but later.
bool is_older_than_job(int file) {
    struct stat status {};
    return fstat(file, &status) == 0 && status.st_mtime + clock_tolerance_s < process.job().launcher_start;
}

/// Behind the key stands the daemon of the rank that made the folder: on its host, another one is another job's.
bool is_of_this_job(const char* text) {
    const Job& job = process.job();
    const std::size_t key = std::strlen(job.key), host = std::strlen(job.host);
    if (std::strncmp(text, job.key, key) != 0 || text[key] != '\n') return false;
    const char* daemon = text + key + 1;
    return std::strncmp(daemon, job.host, host) != 0 || daemon[host] != ' ' || std::strcmp(daemon, job.daemon) == 0;
}

bool has_job_key(const char* folder) {
    FilePath path;
    char found[1024] = {};
    path_of(folder, "job", path);
    const int file = open_own(path, O_RDONLY);
    if (file < 0) return false;
    if (is_older_than_job(file)) {
        close(file);
        return false;
    }
    ssize_t size = 0;
    for (int i = 0; size == 0 && i < 50; ++i) { // another rank of the job may be about to write it
        if (i != 0) usleep(2000);
        size = pread(file, found, sizeof found - 1, 0);
    }
    close(file);
    return size > 0 && is_of_this_job(found);
}

bool has_file(const char* folder, const char* name) {
    FilePath path;
    path_of(folder, name, path);
    struct stat status {};
    return lstat(path, &status) == 0; // a link that leads nowhere counts, too
}

/// Returns true for a folder of an earlier run under the same launcher: it has a common file, or a file of this rank.
bool is_taken(const char* folder) {
    char own[64];
    std::snprintf(own, sizeof own, "rank-%d.lprof", process.job().rank);
    return has_file(folder, "profile.lprof") || has_file(folder, own);
}

bool can_be_written(const char* folder) { return access(folder, W_OK | X_OK) == 0; }

/// Returns true for a folder of this job where this rank can write, even after the program has changed its user.
bool is_open_to_this_rank(const char* folder) { return has_job_key(folder) && !is_taken(folder) && can_be_written(folder); }

/// Processes that are jobs of their own may have the same key as their neighbours, but must not share a folder with them.
bool is_made_by_another_rank(const char* folder) { return process.output() != Output::OneProcess && is_open_to_this_rank(folder); }

/// Like mkdir -p. `kept`: length of the path that existed before.
int make_folders(char* path, std::size_t& kept) {
    kept = 0;
    for (char* p = path + 1;; ++p) {
        const char end = *p;
        if (end != '/' && end != 0) continue;
        *p = 0;
        const int error = mkdir(path, 0777) == 0 ? 0 : errno;
        *p = end;
        if (error == EEXIST) kept = static_cast<std::size_t>(p - path);
        if (end == 0 || (error != 0 && error != EEXIST)) return error;
    }
}

/// Removes the empty folders that make_folders() made.
void remove_folders(char* path, std::size_t kept) {
    for (char* p = path + std::strlen(path); p > path + kept; --p) {
        if (*p != '/' && *p != 0) continue;
        *p = 0;
        if (rmdir(path) != 0 && errno != ENOENT) return;
    }
}

/// Makes the path absolute, since the application may change its working folder before the end. The result is empty if it is too long.
void absolute(const char* path, char (&buffer)[OutputFolder::path_size]) {
    const char* folder = process.job().folder;
    const bool is_whole = path[0] == '/' || *folder == 0; // no working folder: then a relative path is an error
    if (std::strcmp(folder, "/") == 0) folder = "";
    const int n = std::snprintf(buffer, sizeof buffer, "%s%s%s", is_whole ? "" : folder, is_whole ? "" : "/", path);
    std::size_t length = n < 0 ? sizeof buffer : static_cast<std::size_t>(n);
    if (length > sizeof buffer - 64) length = 0; // leaves room for the names of files
    while (length > 1 && buffer[length - 1] == '/') --length;
    buffer[length] = 0;
}

void default_base(char (&buffer)[OutputFolder::path_size]) {
    const Job& job = process.job();
    char name[512];
    std::snprintf(name, sizeof name, "libprofile-%s-%s", job.name, job.id);
    absolute(name, buffer);
}

/// The beginning of a long path, so that a message has room for the rest.
struct Shown {
    char text[208];
    explicit Shown(const char* path) { std::snprintf(text, sizeof text, "%.200s%s", path, std::strlen(path) > 200 ? "..." : ""); }
};

void sibling_path(const char* base, int number, char (&buffer)[OutputFolder::path_size]) {
    if (number == 0)
        std::snprintf(buffer, sizeof buffer, "%s", base);
    else
        std::snprintf(buffer, sizeof buffer, "%.4060s.%03d", base, number);
}

} // namespace

/// Tries one name. The `job` file is created exclusively, so only one of two jobs gets a folder.
bool OutputFolder::claim(const char* path, bool may_exist, int& error) noexcept {
    char copy[path_size];
    std::size_t kept = 0;
    std::snprintf(copy, sizeof copy, "%s", path);
    error = make_folders(copy, kept);
    if (error == EEXIST) {
        if (has_file(path, "profile.lprof") || has_file(path, "profile.lprof.partial")) return false;
        const bool has_config = has_file(path, "config"); // written after `job`, so it is looked for first
        if (is_made_by_another_rank(path)) {
            adopt(path);
            return true;
        }
        if (!may_exist) return false;
        error = check_folder(path);
        if (error == 0 && has_config) error = EEXIST; // another job's, or the program's own
        if (error != 0) return false;
    }
    if (error == 0) {
        char text[1024];
        const int length = std::snprintf(text, sizeof text, "%s\n%s", process.job().key, process.job().daemon);
        error = write_text(path, "job", text, static_cast<std::size_t>(length));
    }
    if (error == EEXIST && is_made_by_another_rank(path)) {
        adopt(path);
        return true;
    }
    if (error == 0) {
        char settings[8192];
        error = write_text(path, "config", settings, process.config().describe(settings, sizeof settings));
        if (error != 0) remove(path, "job");
    }
    if (error != 0) {
        remove_folders(copy, kept);
        return false;
    }
    std::snprintf(path_, sizeof path_, "%s", path);
    created_ = true;
    return true;
}

bool OutputFolder::make(const char* base, bool may_exist, int& error) noexcept {
    error = ENAMETOOLONG;
    if (*base == 0) return false;
    if (claim(base, may_exist, error)) return true;
    for (int i = 1; i < most_siblings && error == EEXIST; ++i) {
        char sibling[path_size];
        sibling_path(base, i, sibling);
        if (claim(sibling, false, error)) return true;
    }
    return false;
}

bool OutputFolder::create() noexcept {
    if (refused_) return false;
    char base[path_size];
    default_base(base);
    const char* wanted = process.config().text(Option::Output);
    int error = 0;
    int first_error = 0;
    if (*wanted != 0) {
        char asked[path_size];
        absolute(wanted, asked);
        if (make(asked, true, error)) return true;
        first_error = error;
        if (make(base, false, error)) {
            say_fallen_back(first_error);
            return true;
        }
    } else if (make(base, false, error)) {
        return true;
    }
    refused_ = true;
    if (first_error != 0)
        say("warning: cannot write to LIBPROFILE_OUTPUT=%s (%s), nor to %s (%s), so there will be no profile", Shown(wanted).text, what_failed(first_error),
            Shown(base).text, what_failed(error));
    else
        say("warning: cannot make the output folder %s (%s), so there will be no profile; set LIBPROFILE_OUTPUT to a folder "
            "that can be written",
            Shown(base).text, what_failed(error));
    return false;
}

void OutputFolder::check() noexcept {
    if (!ready() || can_be_written(path_)) return;
    path_[0] = 0;
    created_ = false;
}

bool OutputFolder::find_job(const char* base) noexcept {
    char sibling[path_size];
    for (int i = 0; i < most_siblings; ++i) {
        sibling_path(base, i, sibling);
        if (access(sibling, F_OK) != 0) break;
        if (!is_open_to_this_rank(sibling)) continue;
        adopt(sibling);
        return true;
    }
    return false;
}

bool OutputFolder::find_otherwise_named() noexcept {
    const Job& job = process.job();
    if (!job.key_is_of_all_hosts || job.launcher_start == 0) return false;
    char prefix[256];
    std::snprintf(prefix, sizeof prefix, "libprofile-%.200s-", job.name);
    return any_entry(job.folder, false, [&](const char* entry) {
        const std::size_t length = std::strlen(prefix);
        if (std::strncmp(entry, prefix, length) != 0) return false;
        const char* const earliest = job.earliest_date;
        const bool is_time = std::strlen(entry + length) >= std::strlen(earliest) && entry[length + 8] == '-';
        if (is_time && std::strncmp(entry + length, earliest, std::strlen(earliest)) < 0) return false;
        char path[path_size];
        absolute(entry, path);
        if (!is_open_to_this_rank(path)) return false;
        adopt(path);
        return true;
    });
}

bool OutputFolder::find_wanted(char (&base)[path_size], char (&fallback)[path_size]) noexcept {
    const char* wanted = process.config().text(Option::Output);
    default_base(fallback);
    absolute(*wanted != 0 ? wanted : fallback, base);
    return find_job(base) || (*wanted != 0 && find_job(fallback)) || find_otherwise_named();
}

bool OutputFolder::lead() noexcept {
    char base[path_size];
    char fallback[path_size];
    return find_wanted(base, fallback) || create();
}

bool OutputFolder::join() noexcept {
    char base[path_size];
    char fallback[path_size];
    const char* wanted = process.config().text(Option::Output);
    if (find_wanted(base, fallback)) return true;
    int error = 0;
    if (make(base, *wanted != 0, error)) return true;
    if (find_job(base)) return true; // another rank was faster
    return *wanted != 0 && (make(fallback, false, error) || find_job(fallback));
}

bool OutputFolder::fall_back(int error) noexcept {
    const bool is_of_the_folder = error != ENOMEM && error != EFBIG; // memory and the limit of file sizes are the same elsewhere
    if (*process.config().text(Option::Output) == 0 || !is_of_the_folder) return false;
    char base[path_size];
    default_base(base);
    if (std::strncmp(path_, base, std::strlen(base)) == 0) return false;
    return find_job(base) || make(base, false, error) || find_job(base); // another rank may be faster
}

void OutputFolder::say_fallen_back(int error) const noexcept {
    say("warning: cannot write to LIBPROFILE_OUTPUT=%s (%s); the profile goes to %s in the working folder instead",
        Shown(process.config().text(Option::Output)).text, what_failed(error), shown());
}

void OutputFolder::adopt(const char* path) noexcept { std::snprintf(path_, sizeof path_, "%s", path); }

const char* OutputFolder::shown() const noexcept {
    static char below_root[path_size + 16];
    if (process.job().has_new_root()) {
        std::snprintf(below_root, sizeof below_root, "NEW_ROOT%s", path_);
        return below_root;
    }
    const char* folder = process.job().folder;
    const std::size_t length = std::strlen(folder);
    return length > 1 && std::strncmp(path_, folder, length) == 0 && path_[length] == '/' ? path_ + length + 1 : path_;
}

void OutputFolder::file(const char* name, char (&buffer)[path_size + 64]) const noexcept { std::snprintf(buffer, sizeof buffer, "%s/%s", path_, name); }

} // namespace libprofile
