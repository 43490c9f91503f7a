// The rows of a phase that are in no cluster, in the order of the file: by node.
// Contract: used by the thread that writes; the phase's rows must not change meanwhile. Memory from ByteBuffer, not from the quota, which may be
// used up.
#pragma once

#include "libprofile/metrics/accumulator.hpp"
#include "libprofile/output/byte_buffer.hpp"

#include <algorithm>
#include <cstdint>

namespace libprofile {

class OpenRows {
  public:
    /// Call it once. Returns false if memory is short.
    bool sort(Accumulator& rows) noexcept {
        rows_ = &rows;
        if (rows.size() == 0) return true;
        unsigned char* memory = order_.append(rows.size() * sizeof(std::uint32_t));
        if (memory == nullptr) return false;
        auto* order = reinterpret_cast<std::uint32_t*>(memory);
        for (std::uint32_t i = 0; i < rows.size(); ++i) order[i] = i;
        std::sort(order, order + rows.size(), [&rows](std::uint32_t a, std::uint32_t b) { return rows[a].node < rows[b].node; });
        return true;
    }
    std::size_t size() const { return order_.size() / sizeof(std::uint32_t); }
    const Row& operator[](std::size_t i) const { return (*rows_)[reinterpret_cast<const std::uint32_t*>(order_.data())[i]]; }

  private:
    Accumulator* rows_ = nullptr;
    ByteBuffer order_;
};

} // namespace libprofile
