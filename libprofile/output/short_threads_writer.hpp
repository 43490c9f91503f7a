// The ShortThreads block of a rank (format/short_threads.hpp); none if every thread is shown or counted as lost.
// Contract: as for serializer.hpp.
#pragma once

#include "format/short_threads.hpp"
#include "libprofile/output/block_writer.hpp"
#include "libprofile/thread/thread_registry.hpp"

namespace libprofile {

inline bool write_short_threads(BlockBuffer& buffer, std::uint32_t rank) noexcept {
    // Read once, because more threads may end while a checkpoint is written, and a payload is described twice.
    ShortThreadsRecord record = thread_registry.short_threads();
    if (record.threads == 0) return true;
    return write_block(buffer, {BlockType::ShortThreads, rank}, [&](Encoder& encoder) { describe(encoder, record); });
}

} // namespace libprofile
