// The runtime's own memory: pages from the kernel under one quota per process, never the application's malloc.
// Contract: an Arena or Pool belongs to one thread (or is guarded by its owner); allocation is async-signal-safe
// (mmap is a plain system call), returns nullptr when the quota is used up, and memory is given back only at exit.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace libprofile {

/// Bytes the process may map and has mapped. Thread-safe.
class MemoryQuota {
  public:
    void limit(std::uint64_t bytes) { limit_.store(bytes, std::memory_order_relaxed); }
    std::uint64_t limit() const { return limit_.load(std::memory_order_relaxed); }
    std::uint64_t used() const { return used_.load(std::memory_order_relaxed); }
    /// The most that was ever in use.
    std::uint64_t peak() const { return peak_.load(std::memory_order_relaxed); }
    /// Zeroed pages, or nullptr (quota or kernel refused).
    void* map(std::size_t bytes) noexcept;
    void unmap(void* pages, std::size_t bytes) noexcept;

    /// Coded series come last (docs/clustering.md, Memory): all of the process together get this share of the quota, and nothing
    /// of what others still need. They say themselves what they have.
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

/// Bump allocator: zeroed memory, never freed.
class Arena {
  public:
    /// `alignment`: at most a page's.
    void* allocate(std::size_t bytes, std::size_t alignment = 16) noexcept;
    template <class T> T* make() noexcept {
        void* place = allocate(sizeof(T), alignof(T));
        return place == nullptr ? nullptr : new (place) T();
    }
    template <class T> T* array(std::size_t count) noexcept { return static_cast<T*>(allocate(count * sizeof(T), alignof(T))); }
    const char* copy_text(const char* text) noexcept;
    /// For programs that live on and give the memory back themselves (MemoryQuota::unmap): tells of all pages taken from now on.
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

/// Power-of-two free lists above an arena, for things that come and go (iteration profiles).
class Pool {
  public:
    explicit Pool(Arena& arena) : arena_(&arena) {}
    /// At least `bytes` bytes, not zeroed when recycled; nullptr when the quota is used up.
    void* allocate(std::size_t bytes) noexcept;
    /// `bytes` as passed to allocate.
    void release(void* memory, std::size_t bytes) noexcept;
    /// How many there really are when so many were asked for; release() may be told any number up to that if it is of the same room.
    static std::size_t room(std::size_t bytes) noexcept;

  private:
    static constexpr unsigned classes = 40;
    struct Free {
        Free* next;
    };
    Arena* arena_;
    Free* free_[classes] = {};
};

/// A growing array whose elements never move. `T` must be fine when zero-filled.
template <class T, unsigned chunk_bits = 8> class StableArray {
  public:
    static constexpr std::size_t chunk_elements = std::size_t{1} << chunk_bits;
    static constexpr std::size_t max_chunks = std::size_t{1} << 16;

    std::size_t size() const { return size_; }
    T& operator[](std::size_t i) { return chunks_[i >> chunk_bits][i & (chunk_elements - 1)]; }
    const T& operator[](std::size_t i) const { return chunks_[i >> chunk_bits][i & (chunk_elements - 1)]; }

    /// Appends a zero-filled element; nullptr when the quota is used up.
    T* append(Arena& arena) noexcept { return reserve(1, arena) ? &(*this)[size_++] : nullptr; }
    /// Makes room for `count` more elements, at most a chunk. False: the quota is used up.
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
