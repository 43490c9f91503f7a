// Messages between pairs of ranks at the job's end that never hang and need no communicator of their own. All ranks take part in every step, most of
// them with nothing to send.
// Contract: as for PolledCollectives. After a step has failed, all later ones fail, and its arguments must stay unchanged until the end of MPI.
//
// A step is an exchange among all ranks of MPI_COMM_WORLD in which all sizes except those of pairs are 0. MPI keeps such messages apart from the
// application's, which may have open receives for any message, and sends none of zero bytes.
#pragma once

#include "libprofile/merge/page_array.hpp"
#include "libprofile/output/polled_collectives.hpp"

namespace libprofile {

class PolledPairs {
  public:
    static constexpr std::size_t words_per_rank = 3;

    /// `words`: all 0, the same number for each rank. After a failed step its pages are left to MPI.
    PolledPairs(PolledCollectives& job, PageArray<int>& words, Polling polling = Polling::Sparing) noexcept
        : job_(job), words_(words), polling_(polling), out_sizes_(words.data()), in_sizes_(out_sizes_ + words.size() / words_per_rank),
          offsets_(in_sizes_ + words.size() / words_per_rank) {}

    /// Sends to the partner and receives from it. A rank without a partner is its own, with nothing to send.
    bool step(std::uint64_t partner, const void* out, std::size_t out_size, void* in, std::size_t in_size) noexcept {
        constexpr std::size_t most = 0x7fffffff;
        if (words_.is_empty() || out_size > most || in_size > most) return false;
        out_sizes_[partner] = static_cast<int>(out_size);
        in_sizes_[partner] = static_cast<int>(in_size);
        if (out_size == 0) out = &nothing_[0];
        if (in_size == 0) in = &nothing_[1];
        if (!job_.exchange(out, out_sizes_, in, in_sizes_, offsets_, polling_)) {
            words_.leave();
            return false;
        }
        out_sizes_[partner] = in_sizes_[partner] = 0;
        return true;
    }

  private:
    static inline unsigned char nothing_[2]; // some MPIs refuse null or equal buffers, whatever their size

    PolledCollectives& job_;
    PageArray<int>& words_;
    Polling polling_;
    int* out_sizes_;
    int* in_sizes_;
    const int* offsets_; // all 0: the beginning of the buffers
};

} // namespace libprofile
