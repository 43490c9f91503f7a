// The runtime's own memory: pages from the kernel under one quota per process, never the application's malloc.
// Contract: an Arena or Pool belongs to one thread, or its owner guards it. Allocation is async-signal-safe (mmap is a plain
// system call) and returns nullptr when the quota is used up. Memory is given back only at exit.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace libprofile {

/// The bytes that the process may map, and has mapped. Thread-safe.
class MemoryQuota {
  public:
    void limit(std::uint64_t bytes) { limit_.store(bytes, std::memory_order_relaxed); }
    std::uint64_t limit() const { return limit_.load(std::memory_order_relaxed); }
    std::uint64_t used() const { return used_.load(std::memory_order_relaxed); }
    /// The most that was ever in use.
    std::uint64_t peak() const { return peak_.load(std::memory_order_relaxed); }
    /// Returns zeroed pages, or nullptr if the quota is used up or the kernel refuses.
    void* map(std::size_t bytes) noexcept;
    void unmap(void* pages, std::size_t bytes) noexcept;

    /// Coded series have the lowest priority (docs/clustering.md, Memory). All series of the process share this part of the quota and
    /// take nothing that others still need. They report what they use.
    std::uint64_t series_share() const { return limit() / 4; }
    std::uint64_t series() const { return series_.load(std::memory_order_relaxed); }
    void series_changed(std::uint64_t from, std::uint64_t to) { series_.fetch_add(to - from, std::memory_order_relaxed); }
    bool has_room_for_series(std::uint64_t others_need) const { return series() < series_share() && used() + others_need < limit() - limit() / 8; }

  private:
    std::atomic<std::uint64_t> series_{0};
    std::atomic<std::uint64_t> limit_{256ull << 20};
    std::atomic<std::uint64_t> used_{0};
    std::atomic<std::uint64_t> peak_{0};
};
extern MemoryQuota memory_quota;

/// The bytes of the pages that hold so many.
constexpr std::size_t in_pages(std::size_t bytes) { return (bytes + 4095) & ~std::size_t{4095}; }

/// A bump allocator: zeroed memory that is never freed.
class Arena {
  public:
    /// `alignment`: at most a page's.
    void* allocate(std::size_t bytes, std::size_t alignment = 16) noexcept;
    template <class T> T* make() noexcept {
        void* memory = allocate(sizeof(T), alignof(T));
        return memory == nullptr ? nullptr : new (memory) T();
    }
    template <class T> T* array(std::size_t count) noexcept { return static_cast<T*>(allocate(count * sizeof(T), alignof(T))); }
    const char* copy_text(const char* text) noexcept;
    /// For programs that go on and return the memory themselves (MemoryQuota::unmap): `listener` learns of all pages taken from now on.
    void tell_of_pages(void (*listener)(void* context, void* pages, std::size_t bytes) noexcept, void* context) noexcept {
        listener_ = listener;
        context_ = context;
    }

  private:
    void* map(std::size_t bytes) noexcept;

    static constexpr std::size_t smallest_chunk = 4 << 10;
    static constexpr std::size_t largest_chunk = 256 << 10;
    std::size_t chunk_size_ = 32 << 10; // doubles: a thread that does little takes little of the quota
    unsigned char* next_ = nullptr;
    std::size_t left_ = 0;
    void (*listener_)(void*, void*, std::size_t) noexcept = nullptr;
    void* context_ = nullptr;
};

/// Power-of-two free lists on top of an arena, for short-lived data (iteration profiles).
class Pool {
  public:
    explicit Pool(Arena& arena) : arena_(&arena) {}
    /// Returns at least `bytes` bytes, not zeroed if recycled; nullptr if the quota is used up.
    void* allocate(std::size_t bytes) noexcept;
    /// `bytes` as passed to allocate.
    void release(void* memory, std::size_t bytes) noexcept;
    /// The size that a request of `bytes` really gets. release() accepts any size that gets the same room.
    static std::size_t room(std::size_t bytes) noexcept;

  private:
    static constexpr unsigned classes = 40;
    struct Free {
        Free* next;
    };
    Arena* arena_;
    Free* free_[classes] = {};
};

/// A growing array whose elements never move. `T` must be valid when zero-filled.
template <class T, unsigned chunk_bits = 8> class StableArray {
  public:
    static constexpr std::size_t chunk_elements = std::size_t{1} << chunk_bits;
    static constexpr std::size_t max_chunks = std::size_t{1} << 16;

    std::size_t size() const { return size_; }
    T& operator[](std::size_t i) { return chunks_[i >> chunk_bits][i & (chunk_elements - 1)]; }
    const T& operator[](std::size_t i) const { return chunks_[i >> chunk_bits][i & (chunk_elements - 1)]; }

    /// Appends a zero-filled element. Returns nullptr if the quota is used up.
    T* append(Arena& arena) noexcept { return reserve(1, arena) ? &(*this)[size_++] : nullptr; }
    /// Makes room for `count` more elements, at most a chunk. Returns false if the quota is used up.
    bool reserve(std::size_t count, Arena& arena) noexcept {
        return has_chunk(size_ >> chunk_bits, arena) && has_chunk((size_ + count - 1) >> chunk_bits, arena);
    }

  private:
    bool has_chunk(std::size_t chunk, Arena& arena) noexcept {
        if (chunk >= capacity_ && !more_chunks(arena)) return false;
        if (chunks_[chunk] == nullptr) chunks_[chunk] = arena.array<T>(chunk_elements);
        return chunks_[chunk] != nullptr;
    }
    bool more_chunks(Arena& arena) noexcept {
        const std::size_t wanted = capacity_ == 0 ? 16 : capacity_ * 2;
        if (wanted > max_chunks) return false;
        T** table = arena.array<T*>(wanted);
        if (table == nullptr) return false;
        for (std::size_t i = 0; i < capacity_; ++i) table[i] = chunks_[i];
        chunks_ = table;
        capacity_ = wanted;
        return true;
    }
    T** chunks_ = nullptr;
    std::size_t capacity_ = 0;
    std::size_t size_ = 0;
};

} // namespace libprofile
