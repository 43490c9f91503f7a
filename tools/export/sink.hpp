// Where an export goes: one file, a folder of files, or standard output.
// Contract: one thread; never overwrites; a file with its final name is complete. Throws ExportError.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>

namespace libprofile::tools {

class Sink {
  public:
    virtual ~Sink() = default;
    /// Adds a file, or appends to one that was added. For formats of one file `name` is of no meaning.
    virtual void add(const std::string& name, std::string_view bytes) = 0;
};

/// Standard output, for formats of one file.
class StandardOutput final : public Sink {
  public:
    void add(const std::string& name, std::string_view bytes) override;
};

/// A file or a folder that must not be there yet. Written under a temporary name next to it and renamed by finish(); without
/// finish() the destructor removes what was written.
class NewFiles final : public Sink {
  public:
    NewFiles(std::filesystem::path path, bool is_folder);
    ~NewFiles() override;
    NewFiles(const NewFiles&) = delete;
    NewFiles& operator=(const NewFiles&) = delete;
    void add(const std::string& name, std::string_view bytes) override;
    void finish();

  private:
    std::filesystem::path path_;
    std::filesystem::path temporary_;
    bool is_folder_;
    std::set<std::string> added_;
    bool finished_ = false;
};

} // namespace libprofile::tools
