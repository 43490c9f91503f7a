// The rows of a phase that are in no cluster, in the order of the file: by node.
// Contract: by the thread that writes; the phase's rows stay as they are meanwhile; memory from ByteBuffer, none of the quota, which may
// just have run out.
#pragma once

#include "libprofile/metrics/accumulator.hpp"
#include "libprofile/output/byte_buffer.hpp"

#include <algorithm>
#include <cstdint>

namespace libprofile {

class OpenRows {
  public:
    /// To be called once. False: no memory.
    bool sort(Accumulator& rows) noexcept {
        rows_ = &rows;
        if (rows.size() == 0) return true;
        unsigned char* place = order_.append(rows.size() * sizeof(std::uint32_t));
        if (place == nullptr) return false;
        auto* order = reinterpret_cast<std::uint32_t*>(place);
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
