#include "libprofile/base/memory.hpp"

#include <bit>
#include <cstring>
#include <sys/mman.h>

namespace libprofile {

constinit MemoryQuota memory_quota;

void* MemoryQuota::map(std::size_t bytes) noexcept {
    const std::uint64_t before = used_.fetch_add(bytes, std::memory_order_relaxed);
    if (before + bytes <= limit_.load(std::memory_order_relaxed)) {
        void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages != MAP_FAILED) {
            std::uint64_t peak = peak_.load(std::memory_order_relaxed);
            while (peak < before + bytes && !peak_.compare_exchange_weak(peak, before + bytes, std::memory_order_relaxed)) {
            }
            return pages;
        }
    }
    used_.fetch_sub(bytes, std::memory_order_relaxed);
    return nullptr;
}

void MemoryQuota::unmap(void* pages, std::size_t bytes) noexcept {
    munmap(pages, bytes);
    used_.fetch_sub(bytes, std::memory_order_relaxed);
}

void* Arena::map(std::size_t bytes) noexcept {
    void* pages = memory_quota.map(bytes);
    if (pages != nullptr && listener_ != nullptr) listener_(context_, pages, bytes);
    return pages;
}

void* Arena::allocate(std::size_t bytes, std::size_t alignment) noexcept {
    bytes = (bytes + 15) & ~std::size_t{15};
    std::size_t gap = -reinterpret_cast<std::uintptr_t>(next_) & (alignment - 1);
    if (bytes + gap > left_) {
        if (bytes >= chunk_size_ / 2) // large pieces get pages of their own and waste no chunk
            return map((bytes + 4095) & ~std::size_t{4095});
        // Chunks that are never filled must not use up a small quota. Chunks shrink when the quota is nearly used up.
        while (chunk_size_ > smallest_chunk && chunk_size_ / 2 >= bytes && chunk_size_ > memory_quota.limit() / 32) chunk_size_ /= 2;
        void* chunk = map(chunk_size_);
        while (chunk == nullptr && chunk_size_ > smallest_chunk && chunk_size_ / 2 >= bytes) {
            chunk_size_ /= 2;
            chunk = map(chunk_size_);
        }
        if (chunk == nullptr) return nullptr;
        next_ = static_cast<unsigned char*>(chunk);
        left_ = chunk_size_;
        gap = 0;
        if (chunk_size_ < largest_chunk) chunk_size_ *= 2;
    }
    void* result = next_ + gap;
    next_ += gap + bytes;
    left_ -= gap + bytes;
    return result;
}

const char* Arena::copy_text(const char* text) noexcept {
    const std::size_t size = std::strlen(text) + 1;
    auto* copy = static_cast<char*>(allocate(size));
    if (copy == nullptr) return "";
    std::memcpy(copy, text, size);
    return copy;
}

namespace {
unsigned size_class(std::size_t bytes) { return static_cast<unsigned>(std::bit_width((bytes < 64 ? 64 : bytes) - 1)); }
} // namespace

std::size_t Pool::room(std::size_t bytes) noexcept { return std::size_t{1} << size_class(bytes); }

void* Pool::allocate(std::size_t bytes) noexcept {
    const unsigned c = size_class(bytes);
    if (c >= classes) return nullptr;
    if (Free* recycled = free_[c]) {
        free_[c] = recycled->next;
        return recycled;
    }
    return arena_->allocate(std::size_t{1} << c);
}

void Pool::release(void* memory, std::size_t bytes) noexcept {
    if (memory == nullptr) return;
    auto* entry = static_cast<Free*>(memory);
    const unsigned c = size_class(bytes);
    entry->next = free_[c];
    free_[c] = entry;
}

} // namespace libprofile
