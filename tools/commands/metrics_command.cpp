#include "format/counters.hpp"
#include "libprofile/counters/energy_files.hpp"
#include "libprofile/counters/papi_library.hpp"
#include "libprofile/counters/software_events.hpp"
#include "tools/commands/commands.hpp"
#include "tools/text/layout.hpp"

#include <fmt/format.h>
#include <map>
#include <vector>

namespace libprofile::tools {

namespace {

class MetricsCommand final : public Command {
  public:
    const char* name() const override { return "metrics"; }
    const char* summary() const override { return "list the counters that this machine offers (LIBPROFILE_METRICS)"; }
    const char* help() const override {
        return "Usage: libprofile metrics\n"
               "Lists the counters that LIBPROFILE_METRICS=name,name,... (or libprofile run --metrics=...) may name, up to 8 at a time, and why\n"
               "others are not available on this machine. Run it on a compute node: login nodes often have other permissions.\n\n"
               "Examples:\n"
               "  libprofile metrics\n"
               "  mpirun -n 4 libprofile run --metrics=page_faults,context_switches -- ./app\n";
    }

    void declare(CLI::App&) override {}

    int run() override {
        fmt::print("Operating system\n");
        for (std::size_t i = 0; i < os_counter_count; ++i) {
            const OsCounterRow& row = os_counter_table[i];
            const bool is_energy = static_cast<OsCounter>(i) == OsCounter::Energy;
            line(row.name, row.unit, row.description, is_energy && !energy_files.find() ? energy_files.reason() : "");
        }
        fmt::print("\nKernel (perf events in software)\n");
        for (const SoftwareEventRow& row : software_event_table) {
            char why[256] = {};
            if (const int error = try_software_event(row); error != 0) describe_refusal(error, why, sizeof why);
            line(row.name, row.unit, row.description, why);
        }
        papi();
        return 0;
    }

  private:
    static constexpr std::size_t width = 100;

    static void line(const char* name, const char* unit, const char* description, const std::string& why_not) {
        fmt::print("  {:<32} {:<6} {}\n", name, unit, why_not.empty() ? "" : "not available");
        const std::string text = why_not.empty() ? std::string(description) : why_not;
        for (const std::string& part : wrapped(text, width - 6)) fmt::print("      {}\n", part);
    }

    static void papi() {
        char why[256] = {};
        if (!papi_library.load(why, sizeof why)) {
            fmt::print("\nPAPI: {}\n", why);
            return;
        }
        fmt::print("\nPAPI {}.{} (papi_avail and papi_native_avail describe them; native events are not listed here, but may be named)\n",
                   papi_library.version() >> 24, papi_library.version() >> 16 & 0xff);
        struct Found {
            std::vector<std::string> here;
            std::map<std::string, std::vector<std::string>> not_here; // by reason
        } found;
        papi_library.for_each_preset(
            [](void* context, const char* preset, int code) {
                auto* to = static_cast<Found*>(context);
                char reason[256] = {};
                papi_library.forget();
                if (papi_library.can_count(code, reason, sizeof reason))
                    to->here.push_back(preset);
                else
                    to->not_here[reason].push_back(preset);
            },
            &found);
        list("", found.here);
        for (const auto& [reason, presets] : found.not_here) list(fmt::format("not available, because {}:", reason), presets);
    }

    static void list(const std::string& heading, const std::vector<std::string>& names) {
        if (names.empty()) return;
        if (!heading.empty())
            for (const std::string& part : wrapped(heading, width - 2)) fmt::print("  {}\n", part);
        std::string all;
        for (const std::string& one : names) all += (all.empty() ? "" : " ") + one;
        for (const std::string& part : wrapped(all, width - 4)) fmt::print("    {}\n", part);
    }
};

} // namespace

std::unique_ptr<Command> make_metrics_command() { return std::make_unique<MetricsCommand>(); }

} // namespace libprofile::tools
