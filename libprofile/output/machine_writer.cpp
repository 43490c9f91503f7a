#include "libprofile/output/machine_writer.hpp"

#include "format/machine.hpp"
#include "libprofile/base/memory.hpp"
#include "libprofile/base/process.hpp"
#include "libprofile/base/process_state.hpp"
#include "libprofile/base/small_file.hpp"
#include "libprofile/output/safe_files.hpp"

#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace libprofile {

namespace {

bool is_of_this_machine(const unsigned char* head) noexcept {
    char boot_id[boot_id_size + 1] = {};
    return read_small_file(boot_id_file, boot_id, sizeof boot_id) == boot_id_size && std::memcmp(head + boot_id_at, boot_id, boot_id_size) == 0;
}

/// The payload of the block, 0 bytes if the file is not what it should be, or is that of another machine.
std::size_t read_payload(int file, unsigned char* to, std::size_t size) noexcept {
    std::size_t have = 0;
    while (have < size) {
        const ssize_t n = read(file, to + have, size - have);
        if (n <= 0) return 0;
        have += static_cast<std::size_t>(n);
    }
    std::uint32_t crc = 0;
    std::memcpy(&crc, to + sizeof machine_file_magic, sizeof crc);
    const bool is_one = std::memcmp(to, machine_file_magic, sizeof machine_file_magic) == 0 && is_of_this_machine(to);
    return is_one && crc32(to + machine_file_head, size - machine_file_head) == crc ? size - machine_file_head : 0;
}

} // namespace

bool write_machine(BlockBuffer& buffer, std::uint32_t rank) noexcept {
    const char* const path = process.config().machine_file();
    if (path == nullptr) return true;
    const int file = open_own(path, O_RDONLY);
    if (file < 0) return true; // somebody has tidied up
    struct stat status {};
    bool ok = true;
    const bool has_size =
        fstat(file, &status) == 0 && status.st_size > static_cast<off_t>(machine_file_head) && status.st_size <= static_cast<off_t>(machine_file_most);
    const auto size = has_size ? static_cast<std::size_t>(status.st_size) : 0;
    if (auto* const bytes = size == 0 ? nullptr : static_cast<unsigned char*>(memory_quota.map(size))) {
        const std::size_t payload = read_payload(file, bytes, size);
        if (payload != 0) ok = write_block(buffer, {BlockType::Machine, rank}, [&](Encoder& encoder) { encoder.raw(bytes + machine_file_head, payload); });
        memory_quota.unmap(bytes, size);
    }
    close(file);
    return ok;
}

} // namespace libprofile
