#include "tools/server/serve.hpp"

#include "tools/server/loopback_server.hpp"
#include "tools/server/page_server.hpp"

#include <charconv>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace libprofile::tools {

namespace {

using Parameters = std::multimap<std::string, std::string>;

std::string text_of(const Parameters& parameters, const char* name) {
    const auto at = parameters.find(name);
    if (at == parameters.end()) throw ViewError(fmt::format("the request has no \"{}\"", name));
    return at->second;
}

template <class Unsigned> Unsigned number_of(const Parameters& parameters, const char* name) {
    const std::string text = text_of(parameters, name);
    Unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) throw ViewError(fmt::format("\"{}\" is not a number", name));
    return value;
}

void read_ranks(const Parameters& p, PageServer::Selected& selected) {
    selected.first_rank = number_of<std::uint64_t>(p, "first_rank");
    selected.end_rank = number_of<std::uint64_t>(p, "end_rank");
}

std::string answer_to(PageServer& pages, const std::string& name, const Parameters& p) {
    if (name == "source") {
        PageServer::Selected chosen;
        chosen.phase = p.contains("phase") ? number_of<std::uint32_t>(p, "phase") : TreeChoice::all_phases;
        if (p.contains("from")) {
            chosen.from = number_of<std::uint64_t>(p, "from");
            chosen.to = number_of<std::uint64_t>(p, "to");
            if (chosen.from >= chosen.to) throw ViewError("there are no such iterations");
        }
        if (p.contains("first_rank")) read_ranks(p, chosen);
        chosen.rest = p.contains("rest");
        return pages.source(text_of(p, "function"), text_of(p, "metric"), chosen);
    }
    const auto phase = number_of<std::uint32_t>(p, "phase");
    if (name == "map") return pages.map(phase, text_of(p, "metric"));
    if (name == "row") return pages.row(phase, text_of(p, "metric"), number_of<std::uint32_t>(p, "rank"));
    PageServer::Selected selected;
    selected.phase = phase;
    selected.from = number_of<std::uint64_t>(p, "from");
    selected.to = number_of<std::uint64_t>(p, "to");
    selected.rest = p.contains("rest");
    if (p.contains("first_rank")) read_ranks(p, selected);
    return pages.profile_of(selected);
}

LoopbackServer::Answer answer(int status, const char* type, std::string text) { return {status, type, std::make_shared<const std::string>(std::move(text))}; }

} // namespace

bool serve(const Profile& profile, PageRequest page, const ServeRequest& request, const std::function<void(const std::string&)>& ready) {
    page.served = true;
    // The page is there sooner with one map; it can ask for the others.
    if (page.metrics.empty()) page.most_maps = 1;
    PageServer pages(profile, page);
    const auto text = std::make_shared<const std::string>(pages.page());
    const auto handler = [&](const std::string& name, const Parameters& parameters) {
        if (name.empty()) return LoopbackServer::Answer{200, "text/html; charset=utf-8", text};
        if (name != "map" && name != "row" && name != "profile" && name != "source") return answer(404, "text/plain", "There is no such request.\n");
        try {
            return answer(200, "application/json", answer_to(pages, name, parameters));
        } catch (const ViewError& error) {
            return answer(400, "application/json", nlohmann::json({{"error", error.what()}}).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
        } catch (const std::bad_alloc&) {
            return answer(500, "application/json", "{\"error\":\"there is not enough memory for this\"}");
        }
    };
    LoopbackServer server(handler, request.port);
    ready(server.address());
    LoopbackServer::Patience patience;
    patience.of_silence = std::chrono::seconds(request.silence_s);
    return server.run(patience);
}

} // namespace libprofile::tools
