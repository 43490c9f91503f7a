// A finding: what the report says first about one question of users.
// Contract: plain data.
#pragma once

#include <string>
#include <vector>

namespace libprofile::tools {

struct Finding {
    std::string key;                    // "time", "change", "ranks", "threads", "saving", "cost"
    std::string question;               // heading
    std::vector<std::string> sentences; // begin in lower case where they can, end without a full stop
};

} // namespace libprofile::tools
