// Growing arrays on pages of their own, under a budget: memory for merging call-path tables at the end of a job.
// Contract: one thread; never throws. Pages come straight from the kernel, and the destructor returns them. A call that finds no memory
// returns nullptr or false, and changes nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/mman.h>
#include <type_traits>

namespace libprofile {

/// The bytes that may be mapped, are mapped, and were mapped at most.
class PageBudget {
  public:
    explicit PageBudget(std::uint64_t limit) : limit_(limit) {}
    bool take(std::uint64_t bytes) {
        if (!has_room(bytes)) return false;
        used_ += bytes;
        if (used_ > peak_) peak_ = used_;
        return true;
    }
    void give_back(std::uint64_t bytes) { used_ -= bytes; }
    bool has_room(std::uint64_t bytes) const { return bytes <= limit_ - used_; }
    std::uint64_t used() const { return used_; }
    std::uint64_t peak() const { return peak_; }

  private:
    std::uint64_t limit_;
    std::uint64_t used_ = 0;
    std::uint64_t peak_ = 0;
};

/// New elements are zero. Elements move when the array grows.
template <class T> class PageArray {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    explicit PageArray(PageBudget& budget) : budget_(&budget) {}
    PageArray(PageArray&& other) noexcept : budget_(other.budget_), data_(other.data_), size_(other.size_), mapped_(other.mapped_) { other.forget(); }
    PageArray& operator=(PageArray&& other) noexcept {
        if (this == &other) return *this;
        release();
        budget_ = other.budget_;
        data_ = other.data_;
        size_ = other.size_;
        mapped_ = other.mapped_;
        other.forget();
        return *this;
    }
    PageArray(const PageArray&) = delete;
    PageArray& operator=(const PageArray&) = delete;
    ~PageArray() { release(); }

    std::size_t size() const { return size_; }
    bool is_empty() const { return size_ == 0; }
    T* data() { return data_; }
    const T* data() const { return data_; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }

    /// Makes room for `count` elements in all, so that appending up to there cannot fail.
    bool reserve(std::size_t count) noexcept {
        constexpr std::size_t page = 4096;
        if (count > (std::size_t{1} << 62) / sizeof(T)) return false;
        const std::size_t wanted = (count * sizeof(T) + page - 1) & ~(page - 1);
        if (wanted <= mapped_) return true;
        if (!budget_->take(wanted - mapped_)) return false;
        void* pages =
            mapped_ == 0 ? mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : mremap(data_, mapped_, wanted, MREMAP_MAYMOVE);
        if (pages == MAP_FAILED) return budget_->give_back(wanted - mapped_), false;
        data_ = static_cast<T*>(pages);
        mapped_ = wanted;
        return true;
    }
    /// Appends `count` zeroed elements.
    T* append(std::size_t count = 1) noexcept {
        const std::size_t size = size_ + count;
        if (size * sizeof(T) > mapped_ && !reserve(size + size_ / 2) && !reserve(size)) return nullptr;
        T* slots = data_ + size_;
        size_ = size;
        return slots;
    }
    /// Keeps the first `count` elements. Elements appended later in the same slots are not zeroed.
    void shorten(std::size_t count) { size_ = count < size_ ? count : size_; }
    void release() noexcept {
        if (mapped_ == 0) return;
        munmap(data_, mapped_);
        budget_->give_back(mapped_);
        forget();
    }

    /// Leaves the pages mapped, because something else may still write to them.
    void leave() noexcept { forget(); }

  private:
    void forget() {
        data_ = nullptr;
        size_ = 0;
        mapped_ = 0;
    }
    PageBudget* budget_;
    T* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t mapped_ = 0; // bytes
};

} // namespace libprofile
