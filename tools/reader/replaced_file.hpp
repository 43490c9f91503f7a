// A file that is written under another name and takes its own when it is whole.
// Contract: belongs to one thread; failures are answers, nothing throws but std::bad_alloc.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace libprofile::tools {

class ReplacedFile {
  public:
    /// Empty where the folder is not writable.
    static std::optional<ReplacedFile> open(const std::filesystem::path& folder, const std::string& name);
    ReplacedFile(ReplacedFile&& other) noexcept;
    ReplacedFile& operator=(ReplacedFile&&) = delete;
    /// Without commit() nothing stays.
    ~ReplacedFile();

    /// For reading what was written.
    int descriptor() const { return file_; }
    /// Appends. Returns false when not all of it could be written.
    bool write(std::span<const unsigned char> bytes);
    /// Returns false, and leaves nothing, when it fails.
    bool commit();

  private:
    ReplacedFile(int file, std::string temporary, std::filesystem::path path);
    int file_;
    std::string temporary_; // empty: it has its name, or is gone
    std::filesystem::path path_;
};

} // namespace libprofile::tools
