#include "libprofile/counters/thread_counters.hpp"

#include "libprofile/base/launcher.hpp"
#include "libprofile/counters/energy_files.hpp"
#include "libprofile/counters/papi_library.hpp"

#include <unistd.h>

namespace libprofile {

namespace {

bool is_energy(const ChosenCounter& counter) { return static_cast<OsCounter>(counter.row) == OsCounter::Energy; }

/// One rank of each host books the host's own counters. If the launcher does not say which, every rank does.
bool is_first_on_host() {
    const bool tells = number_of_launcher(&LauncherVariables::local_rank) >= 0;
    return tells ? is_first_of_host() : is_first_of_job(); // better no energy on other hosts than energy counted twice
}

} // namespace

void ThreadCounters::open(pid_t id, bool whole, bool is_main) noexcept {
    close(); // of the thread that used this location before
    *this = {};
    if (counter_choice.count() == 0) return;
    id_ = id;
    on_ = true;
    reads_os_ = counter_choice.has(CounterSource::Os);
    if (reads_os_ && !whole) {
        if (gettid() == id_)
            read_os_counts(os_);
        else
            read_os_counts_of(id_, os_);
    }
    if (counter_choice.has(CounterSource::Software) && software_.open(id)) mask_ = software_.mask();
    for (std::uint32_t i = 0; i < counter_choice.count(); ++i) {
        const ChosenCounter& counter = counter_choice[i];
        if (!counter.is_read_from(CounterSource::Os)) continue;
        const bool of_process = is_energy(counter) || static_cast<OsCounter>(counter.row) == OsCounter::PeakResident;
        if (of_process && !is_main) continue;
        if (is_energy(counter)) {
            if (!is_first_on_host()) continue;
            counted_[i] = energy_files.read();
        } else {
            counted_[i] = os_[static_cast<OsCounter>(counter.row)];
        }
        taken_[i] = counted_[i];
        mask_ = static_cast<std::uint8_t>(mask_ | 1u << i);
    }
}

void ThreadCounters::open_own() noexcept {
    if (!on_ || tried_papi_) return;
    tried_papi_ = true;
    if (!counter_choice.has(CounterSource::Papi)) return;
    papi_set_ = papi_library.start_set();
    reads_papi_ = papi_set_ >= 0;
    for (std::uint32_t i = 0; reads_papi_ && i < counter_choice.count(); ++i)
        if (counter_choice[i].is_read_from(CounterSource::Papi)) mask_ = static_cast<std::uint8_t>(mask_ | 1u << i);
}

void ThreadCounters::look(bool is_own) noexcept {
    if (!on_) return;
    if (reads_os_) {
        if (is_own)
            read_os_counts(os_);
        else
            read_os_counts_of(id_, os_);
        for (std::uint32_t i = 0; i < counter_choice.count(); ++i) {
            const ChosenCounter& counter = counter_choice[i];
            if (counter.source != CounterSource::Os || (mask_ >> i & 1) == 0) continue;
            see(i, is_energy(counter) ? energy_files.read() : os_[static_cast<OsCounter>(counter.row)]);
        }
    }
    std::uint64_t values[most_counters] = {};
    if (software_.read(values))
        for (std::uint32_t i = 0; i < counter_choice.count(); ++i)
            if ((software_.mask() >> i & 1) != 0) see(i, values[i]);
    if (reads_papi_ && is_own && papi_library.read_set(papi_set_, values))
        for (std::uint32_t i = 0; i < counter_choice.count(); ++i)
            if (counter_choice[i].is_read_from(CounterSource::Papi)) see(i, values[i]);
}

bool ThreadCounters::read(std::uint64_t* increments, bool is_own) noexcept {
    look(is_own);
    std::uint64_t any = 0;
    for (std::size_t i = 0; i < most_counters; ++i) {
        any |= increments[i] = counted_[i] - taken_[i];
        taken_[i] = counted_[i];
        apart_at_read_[i] = apart_[i];
    }
    return any != 0;
}

bool ThreadCounters::read_apart(std::uint64_t* increments, bool is_own) noexcept {
    for (std::size_t i = 0; i < most_counters; ++i) apart_[i] = apart_at_read_[i]; // set_apart() may have excluded some of these before
    const bool any = read(increments, is_own);
    for (std::size_t i = 0; i < most_counters; ++i) apart_at_read_[i] = apart_[i] += increments[i];
    return any;
}

void ThreadCounters::close() noexcept {
    if (!on_) return;
    on_ = false;
    software_.close();
    if (reads_papi_ && gettid() == id_) papi_library.stop_set(papi_set_);
    reads_papi_ = false;
}

} // namespace libprofile
