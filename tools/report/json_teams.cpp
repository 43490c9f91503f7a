#include "tools/report/json_teams.hpp"

#include "tools/analysis/teams.hpp"

#include <nlohmann/json.hpp>

namespace libprofile::tools {

using Json = nlohmann::ordered_json;

nlohmann::ordered_json parallel_regions_json(const Profile& profile) {
    Json list = Json::array();
    for (const TeamRegion& region : team_regions(profile)) {
        Json teams = Json::array();
        for (const Team& team : region.teams) {
            Json threads = Json::array(), working = Json::array(), waiting = Json::array();
            for (const TeamThread& one : team.threads) {
                threads.push_back(one.thread);
                working.push_back(one.working_ns);
                waiting.push_back(one.waiting_ns);
            }
            teams.push_back({{"rank", team.rank},
                             {"visits", team.visits},
                             {"threads", std::move(threads)},
                             {"working", std::move(working)},
                             {"waiting", std::move(waiting)}});
        }
        list.push_back({{"path", region.path},
                        {"function", region.function},
                        {"place", region.source},
                        {"caller", region.caller},
                        {"time", region.time_ns},
                        {"waiting", region.waiting_ns},
                        {"teams", std::move(teams)}});
    }
    return list.empty() ? Json() : list;
}

} // namespace libprofile::tools
