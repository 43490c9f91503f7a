#include "libprofile/output/file_start.hpp"

#include "format/metrics.hpp"
#include "libprofile/base/process.hpp"
#include "libprofile/base/real_time.hpp"
#include "libprofile/base/version.hpp"
#include "libprofile/counters/counter_choice.hpp"
#include "libprofile/loops/iteration_point.hpp"
#include "libprofile/output/block_writer.hpp"

#include <cstdio>
#include <cstring>

namespace libprofile {

namespace {

/// "Open MPI v4.1.4, package: ..." -> "Open MPI 4.1.4"; "MPICH Version:\t4.0.2\n..." -> "MPICH 4.0.2".
void tidy_version(char* text) {
    char* out = text;
    for (const char* in = text; *in != 0 && *in != ',' && *in != '\n';) {
        if (std::strncmp(in, "Version:", 8) == 0) {
            in += 8;
        } else if (*in == ' ' || *in == '\t') {
            if (out != text && out[-1] != ' ') *out++ = ' ';
            ++in;
        } else if (*in == 'v' && out != text && out[-1] == ' ' && in[1] >= '0' && in[1] <= '9') {
            ++in;
        } else {
            *out++ = *in++;
        }
    }
    *out = 0;
}

} // namespace

bool write_file_start(BlockBuffer& buffer, std::uint64_t ranks_in_file, std::uint32_t flags) noexcept {
    FileHeader header{};
    std::memcpy(header.magic, file_magic, sizeof header.magic);
    header.version = format_version;
    header.flags = flags;
    header.ranks = ranks_in_file;
    if (!buffer.append(&header, sizeof header)) return false;

    const Job& job = process.job();
    static char configuration[8192];
    static char mpi[256];
    std::size_t length = process.config().describe(configuration, sizeof configuration);
    // For readers who have only the profile, or set LIBPROFILE_QUIET=1.
    if (const char* problem = iteration_point.last_complaint(); *problem != 0) {
        const int n = std::snprintf(configuration + length, sizeof configuration - length, "LIBPROFILE_ITERATION.problem=%s\n", problem);
        if (n > 0 && static_cast<std::size_t>(n) < sizeof configuration - length) length += static_cast<std::size_t>(n);
    }
    if (process.mpi() == nullptr || process.mpi()->library_version(mpi, sizeof mpi) != 0)
        std::snprintf(mpi, sizeof mpi, "%s", process.mpi() == nullptr ? "none" : process.mpi()->name);
    tidy_version(mpi);
    JobRecord record;
    record.ranks = static_cast<std::uint64_t>(job.ranks);
    record.start_unix_ns = real_time() - session_clock.now();
    record.mpi = mpi;
    record.command = job.command;
    record.executable = job.executable;
    record.folder = job.folder;
    record.version = version;
    record.configuration = Text(configuration, length);
    const bool ok = write_block(buffer, {BlockType::Job}, [&](Encoder& encoder) { describe(encoder, record); });
    return ok && write_block(buffer, {BlockType::Metrics}, [](Encoder& encoder) {
               const std::uint32_t counters = counter_choice.count();
               encoder.number(metric_count + counter_choice.metrics());
               encoder.text("time");
               encoder.text("ns");
               for (const CatalogueRow& row : metric_catalogue) {
                   if (row.kind != CatalogueKind::Direct) continue;
                   encoder.text(row.name);
                   encoder.text(row.unit);
               }
               for (std::uint32_t i = 0; i < counters; ++i) {
                   encoder.text(counter_choice[i].name);
                   encoder.text(counter_choice[i].unit);
               }
               char text[256];
               for (std::uint32_t i = 0; i < counters; ++i) {
                   std::snprintf(text, sizeof text, "%s%s", region_counter_prefix, counter_choice[i].name);
                   encoder.text(text);
                   encoder.text(counter_choice[i].unit);
               }
               encoder.number(counter_choice.metrics());
               for (std::uint32_t i = 0; i < counters; ++i) encoder.text(counter_choice[i].description);
               for (std::uint32_t i = 0; i < counters; ++i) {
                   std::snprintf(text, sizeof text, "%s, from the entry to the exit of a named region", counter_choice[i].name);
                   encoder.text(text);
               }
           });
}

} // namespace libprofile
