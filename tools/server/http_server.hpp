// HTTP/1.1 for a browser on the same machine, by Boost.Beast: one request a connection, no compression, no ranges.
// Contract: made, started and destroyed by one thread. Signals are blocked by the caller before start(), for the threads that this makes. `Answer` is called
// by several threads at once (8 at most); it must not throw. A thread of its own sends and receives, so nobody waits for a connection that is open and says
// nothing: it is closed after 5 s. Of 256 open connections, the next one waits for the end of one. What is not HTTP gets "400", a head above 16 KiB or a
// body above 4 KiB "413". An answer of which a client takes nothing for 60 s is given up.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace libprofile::tools {

struct HttpRequest {
    std::string method;
    std::string path;                                   // decoded, without what follows "?"
    std::multimap<std::string, std::string> parameters; // what follows "?", decoded
    std::vector<std::string> hosts;                     // all "Host" lines
    std::string type, content;                          // of what was sent along
};

struct HttpResponse {
    int status = 200;
    std::string type; // of the content
    std::vector<std::pair<std::string, std::string>> headers;
    std::shared_ptr<const std::string> content; // may be null
};

class HttpServer {
  public:
    using Answer = std::function<HttpResponse(const HttpRequest&)>;

    explicit HttpServer(Answer answer);
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;
    ~HttpServer();

    /// Listens on 127.0.0.1. Called once. @param port 0: any free one. @return the port, or 0 with errno set
    int listen(unsigned port);
    /// After listen().
    void start();
    /// Returns when no thread runs any more: what is being answered is sent to its end.
    void stop();

  private:
    struct Server; // only its file includes Boost
    Answer answer_;
    std::unique_ptr<Server> server_; // null before listen()
};

} // namespace libprofile::tools
