#include "libprofile/output/compressor.hpp"

#include "format/profile_file.hpp"

#include <cstring>
#include <sys/mman.h>

#ifdef LIBPROFILE_ZSTD
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>
#endif

#ifdef LIBPROFILE_ZSTD
// The functions that zstd would call to allocate or trace, which it is not asked to do. Calls to the application's functions of these names must be
// impossible (-Wl,--wrap).
extern "C" {
[[gnu::visibility("hidden")]] void* __wrap_malloc(std::size_t) { return nullptr; }
[[gnu::visibility("hidden")]] void* __wrap_calloc(std::size_t, std::size_t) { return nullptr; }
[[gnu::visibility("hidden")]] void __wrap_free(void*) {}
[[gnu::visibility("hidden")]] unsigned long long ZSTD_trace_compress_begin(const ZSTD_CCtx*) { return 0; }
[[gnu::visibility("hidden")]] void ZSTD_trace_compress_end(unsigned long long, const void*) {}
}
#endif

namespace libprofile {

Compressor::~Compressor() {
    if (pages_ != nullptr) munmap(pages_, pages_size_);
    if (frame_ != nullptr) munmap(frame_, frame_size_);
}

#ifdef LIBPROFILE_ZSTD

namespace {

constexpr std::size_t not_worth_it = 64; // bytes

void* pages(std::size_t size) {
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : memory;
}

/// Fast, and small in memory, since every core of a node may run a process.
constexpr int level = 1;

} // namespace

bool Compressor::start(std::size_t size) noexcept {
    if (failed_) return false;
    failed_ = true;
    if (context_ == nullptr) {
        pages_size_ = ZSTD_estimateCCtxSize(level);
        pages_ = ZSTD_isError(pages_size_) ? nullptr : pages(pages_size_);
        if (pages_ == nullptr) return false;
        // A context in given memory cannot call malloc, which belongs to the application.
        context_ = ZSTD_initStaticCCtx(pages_, pages_size_);
        if (context_ == nullptr) return false;
    }
    if (frame_size_ < size) {
        if (frame_ != nullptr) munmap(frame_, frame_size_);
        std::size_t wanted = std::size_t{1} << 16;
        while (wanted < size) wanted *= 2;
        frame_size_ = wanted;
        frame_ = pages(wanted);
        if (frame_ == nullptr) return false;
    }
    failed_ = false;
    return true;
}

std::size_t Compressor::compress(unsigned char* bytes, std::size_t size, std::size_t frame) noexcept {
    if (size < not_worth_it || !start(size)) return 0;
    auto* const to = static_cast<unsigned char*>(frame_);
    std::size_t stored = 0;
    for (std::size_t at = 0; at < size; at += frame) {
        const std::size_t part = frame < size - at ? frame : size - at;
        const std::size_t taken = ZSTD_compressCCtx(static_cast<ZSTD_CCtx*>(context_), to + stored, size - 1 - stored, bytes + at, part, level);
        if (ZSTD_isError(taken)) return 0;
        stored += taken;
    }
    if (!is_raw_size_allowed(size, stored)) return 0;
    std::memcpy(bytes, frame_, stored);
    return stored;
}

#else

std::size_t Compressor::compress(unsigned char*, std::size_t, std::size_t) noexcept { return 0; }

#endif

} // namespace libprofile
