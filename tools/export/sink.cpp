#include "tools/export/sink.hpp"

#include "tools/export/call_table.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

namespace libprofile::tools {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void cannot_write(const fs::path& path, const char* reason) {
    throw ExportError(fmt::format("cannot write {}: {}; give another name with --output", path.string(), reason));
}

/// @param is_new false: appends
void write_file(const fs::path& path, std::string_view bytes, bool is_new) {
    std::FILE* file = std::fopen(path.c_str(), is_new ? "wbx" : "ab");
    if (file == nullptr) cannot_write(path, std::strerror(errno));
    const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    const int reason = errno;
    if (std::fclose(file) != 0 || !written) cannot_write(path, std::strerror(written ? errno : reason));
}

} // namespace

void StandardOutput::add(const std::string&, std::string_view bytes) {
    std::fwrite(bytes.data(), 1, bytes.size(), stdout); // main() checks for errors
}

NewFiles::NewFiles(fs::path path, bool is_folder) : path_(std::move(path)), is_folder_(is_folder) {
    while (!path_.has_filename() && path_.has_parent_path() && path_.parent_path() != path_) path_ = path_.parent_path(); // without a slash at its end
    std::error_code error;
    if (fs::exists(fs::symlink_status(path_, error)))
        throw ExportError(fmt::format("{} already exists; remove it, or give another name with --output", path_.string()));
    temporary_ = path_;
    temporary_ += fmt::format(".partial.{}", ::getpid());
    if (is_folder_ && !fs::create_directory(temporary_, error)) cannot_write(path_, error ? error.message().c_str() : "its temporary folder already exists");
}

NewFiles::~NewFiles() {
    std::error_code error;
    if (!finished_) fs::remove_all(temporary_, error);
}

void NewFiles::add(const std::string& name, std::string_view bytes) {
    const fs::path file = is_folder_ ? temporary_ / name : temporary_;
    std::error_code error;
    if (is_folder_) fs::create_directories(file.parent_path(), error); // true only if one was made
    if (error) cannot_write(file, error.message().c_str());
    write_file(file, bytes, added_.insert(is_folder_ ? name : "").second);
}

void NewFiles::finish() {
    std::error_code error;
    fs::rename(temporary_, path_, error);
    if (error) cannot_write(path_, error.message().c_str());
    finished_ = true;
}

} // namespace libprofile::tools
