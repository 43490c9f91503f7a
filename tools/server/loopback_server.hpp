// An HTTP server for one user's own browser.
// Contract: made, run and destroyed by one thread, which must be the only one of the process: signals are blocked for those that
// the server starts. Allocates; throws ViewError when it cannot listen. The handler is called by one thread at a time. What runs beside the server
// has a thread of its own, and throws nothing.
//
// It listens on 127.0.0.1 only. That keeps other machines out, but not other users of this one, nor pages of other sites in the
// same browser: so every address begins with a token of 128 random bits, without which there is nothing but "403", and
// a request that names another host than 127.0.0.1, localhost or [::1] gets nothing but "421".
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace libprofile::tools {

class LoopbackServer {
  public:
    struct Answer {
        int status = 200;
        std::string type; // of the content
        std::shared_ptr<const std::string> content;
    };
    struct Question {
        std::string name; // what follows the token in the address; empty: the page
        std::multimap<std::string, std::string> parameters;
        std::optional<std::string> change; // JSON; then something is to be changed
    };
    using Handler = std::function<Answer(const Question&)>;

    /// @param port 0 takes any free port
    LoopbackServer(Handler handler, unsigned port);
    ~LoopbackServer();

    /// With the token; ends with '/'.
    std::string address() const;

    struct Patience {
        std::chrono::seconds after_close{10};  // for a page that is loaded again
        std::chrono::seconds of_silence{3600}; // a browser that was killed does not tell that it closed the page
    };
    /// Serves until SIGINT, SIGTERM or SIGHUP comes, or the pages have been closed. Pages tell "alive" and "closed", each with
    /// its own `page=NAME`.
    /// @param beside runs until the server ends; empty for nothing
    /// @return true: a signal ended it
    bool run(const Patience& patience, const std::function<void(std::stop_token)>& beside = {});

  private:
    struct Server;
    std::unique_ptr<Server> server_;
};

} // namespace libprofile::tools
