// How much memory the contents of somebody else's file may take: 16 times its size, and 128 MiB always. Profiles take 2 to 10 times their size;
// what takes more was made to fill memory.
// Contract: not thread-safe; throws FrameError. What readers take is what their containers need with room to grow, not what malloc says.
#pragma once

#include "tools/frames/frame.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>

namespace libprofile::tools {

class MemoryLimit {
  public:
    static constexpr std::size_t always = std::size_t{128} << 20, per_byte = 16;

    /// @param place the file, or the folder with the files
    explicit MemoryLimit(const std::filesystem::path& place) : left_(most_for(size_of(place))) {}

    /// @throws FrameError when that is more than is left
    void take(std::size_t bytes) {
        if (bytes > left_) throw FrameError("it would take more than 16 times its size in memory, which no profile does");
        left_ -= bytes;
    }
    std::size_t left() const { return left_; }
    /// What was unpacked may have a profile in it, too.
    void unpacked(std::size_t bytes) { left_ += profile_per_byte * bytes; }

    static std::size_t most_for(std::size_t size) { return std::max(always, per_byte * size); }

  private:
    static constexpr std::size_t profile_per_byte = 4;

    static std::size_t size_of(const std::filesystem::path& place) {
        std::error_code error;
        std::size_t size = 0;
        const auto add = [&](const std::filesystem::path& file) {
            const auto bytes = std::filesystem::is_regular_file(file, error) ? std::filesystem::file_size(file, error) : 0;
            size += error ? 0 : static_cast<std::size_t>(bytes);
        };
        if (!std::filesystem::is_directory(place, error)) {
            add(place);
            return size;
        }
        for (std::filesystem::directory_iterator entry(place, error), end; !error && entry != end; entry.increment(error)) add(entry->path());
        return size;
    }

    std::size_t left_;
};

} // namespace libprofile::tools
