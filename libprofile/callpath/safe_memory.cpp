#include "libprofile/callpath/safe_memory.hpp"

#include "libprofile/base/safe_copy.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/uio.h>
#include <unistd.h>

namespace libprofile {

const SafeMemory::Block* SafeMemory::block_at(std::uintptr_t at) noexcept {
    for (const Block& block : blocks_)
        if (block.at == at) return &block;
    Block& block = blocks_[next_++ % most_blocks];
    const bool is_read = copy_memory(block.bytes, reinterpret_cast<const void*>(at), block_bytes);
    block.at = is_read ? at : none;
    return is_read ? &block : nullptr;
}

bool SafeMemory::read(std::uintptr_t address, void* to, std::size_t bytes) noexcept {
    auto* out = static_cast<unsigned char*>(to);
    while (bytes != 0) {
        const std::size_t offset = address % block_bytes, part = std::min(bytes, block_bytes - offset);
        const Block* block = block_at(address - offset);
        if (block == nullptr) return false;
        std::memcpy(out, block->bytes + offset, part);
        out += part;
        address += part;
        bytes -= part;
    }
    return true;
}

std::size_t SafeMemory::read_pieces(const std::uintptr_t* addresses, std::size_t count, void* to, std::size_t bytes) noexcept {
    constexpr std::size_t most = 32;
    std::size_t done = 0;
    while (done < count) {
        const std::size_t now = std::min(count - done, most);
        iovec from[most];
        for (std::size_t i = 0; i < now; ++i) from[i] = {reinterpret_cast<void*>(addresses[done + i]), bytes};
        iovec into{static_cast<unsigned char*>(to) + done * bytes, now * bytes};
        const ssize_t got = process_vm_readv(getpid(), &into, 1, from, now, 0);
        if (got == static_cast<ssize_t>(now * bytes)) {
            done += now;
        } else {
            if (got >= 0 || errno == EFAULT) return done + (got > 0 ? static_cast<std::size_t>(got) / bytes : 0);
            // The kernel does not let a process read itself.
            for (std::size_t i = 0; i < now; ++i, ++done)
                if (!copy_memory(static_cast<unsigned char*>(to) + done * bytes, reinterpret_cast<const void*>(addresses[done]), bytes)) return done;
        }
    }
    return done;
}

} // namespace libprofile
