// Compresses blocks of the profile file (zstd).
// Contract: one thread; pages straight from the kernel, outside the quota (it exists only while the job ends or a checkpoint is written). Never
// throws, never allocates otherwise, no floating point. Takes about 5 KiB of stack.
//
// Why linked in: the application's own zstd may be a different version, or be gone at the end of the job.
#pragma once

#include <cstddef>
#include <cstdint>

namespace libprofile {

class Compressor {
  public:
    Compressor() = default;
    Compressor(const Compressor&) = delete;
    Compressor& operator=(const Compressor&) = delete;
    ~Compressor();

    /// Replaces `size` bytes by zstd frames of them, if that is smaller and readers accept it (is_raw_size_allowed).
    /// @param frame bytes that go into each frame; the last one may have fewer
    /// @return the frames' size; 0 if the bytes are unchanged
    std::size_t compress(unsigned char* bytes, std::size_t size, std::size_t frame = SIZE_MAX) noexcept;

  private:
    bool start(std::size_t size) noexcept;

    void* context_ = nullptr; // in pages_
    void* pages_ = nullptr;
    std::size_t pages_size_ = 0;
    void* frame_ = nullptr;
    std::size_t frame_size_ = 0;
    bool failed_ = false;
};

} // namespace libprofile
