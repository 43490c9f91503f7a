// Growing pages for the serialised profile of this process.
// Contract: one thread; pages straight from the kernel, outside the quota (the buffer exists only while the job ends). append() returns nullptr
// if the kernel refuses.
#pragma once

#include <cstddef>
#include <cstring>
#include <sys/mman.h>

namespace libprofile {

class ByteBuffer {
  public:
    ByteBuffer() = default;
    ByteBuffer(const ByteBuffer&) = delete;
    ByteBuffer& operator=(const ByteBuffer&) = delete;
    ~ByteBuffer() {
        if (bytes_ != nullptr) munmap(bytes_, capacity_);
    }

    /// Appends `count` zeroed bytes.
    unsigned char* append(std::size_t count) noexcept {
        if (size_ + count > capacity_ && !grow(size_ + count)) return nullptr;
        unsigned char* begin = bytes_ + size_;
        size_ += count;
        return begin;
    }
    /// Removes the last `count` bytes and zeroes their memory.
    void shorten(std::size_t count) noexcept {
        size_ -= count;
        std::memset(bytes_ + size_, 0, count);
    }
    const unsigned char* data() const { return bytes_; }
    std::size_t size() const { return size_; }

  private:
    bool grow(std::size_t wanted) noexcept {
        std::size_t capacity = capacity_ == 0 ? std::size_t{1} << 20 : capacity_ * 2;
        while (capacity < wanted) capacity *= 2;
        void* pages = capacity_ == 0 ? mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                     : mremap(bytes_, capacity_, capacity, MREMAP_MAYMOVE);
        if (pages == MAP_FAILED) return false;
        bytes_ = static_cast<unsigned char*>(pages);
        capacity_ = capacity;
        return true;
    }
    unsigned char* bytes_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

} // namespace libprofile
