// An array that copies share until one of them changes: frames of several runs have the same nodes.
// Contract: const access is thread-safe, also to copies; allocates when a copy changes; throws std::bad_alloc.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace libprofile::tools {

template <class T> class SharedArray {
  public:
    SharedArray() = default;
    SharedArray(std::vector<T> values) : values_(std::make_shared<std::vector<T>>(std::move(values))) {}

    const std::vector<T>& get() const { return values_ ? *values_ : none(); }
    operator const std::vector<T>&() const { return get(); }
    const T& operator[](std::size_t at) const { return get()[at]; }
    std::size_t size() const { return get().size(); }
    bool empty() const { return get().empty(); }
    auto begin() const { return get().begin(); }
    auto end() const { return get().end(); }
    const T& back() const { return get().back(); }
    bool operator==(const SharedArray& other) const { return get() == other.get(); }

    void push_back(T value) { own().push_back(std::move(value)); }
    void set(std::size_t at, T value) { own()[at] = std::move(value); }
    void reserve(std::size_t size) { own().reserve(size); }

  private:
    static const std::vector<T>& none() {
        static const std::vector<T> empty;
        return empty;
    }
    std::vector<T>& own() {
        if (!values_)
            values_ = std::make_shared<std::vector<T>>();
        else if (values_.use_count() > 1)
            values_ = std::make_shared<std::vector<T>>(*values_);
        return *values_;
    }
    std::shared_ptr<std::vector<T>> values_;
};

} // namespace libprofile::tools
