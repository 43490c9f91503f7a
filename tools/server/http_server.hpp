// As much of HTTP/1.1 (RFC 9112) as a browser needs of a server on its own machine: one request a connection, no compression, no ranges.
// Contract: made, started and destroyed by one thread. Signals are blocked by the caller before start(), for the threads that this makes. `Answer` is called
// by several threads at once; it must not throw. Nobody waits for a connection that is open and says nothing: there are 8 threads, and each gives
// up after 5 s. What is not HTTP, or longer than 16 KiB, gets "400" or "413".
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace libprofile::tools {

struct HttpRequest {
    std::string method;
    std::string path;                                   // decoded, without what follows "?"
    std::multimap<std::string, std::string> parameters; // what follows "?", decoded
    std::vector<std::string> hosts;                     // all "Host" lines

    /// Returns false if `head` is no head of a request. `body_size`: what its Content-Length says.
    static bool parse(std::string_view head, HttpRequest& request, std::size_t& body_size);
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

    explicit HttpServer(Answer answer) : answer_(std::move(answer)) {}
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;
    ~HttpServer();

    /// Listens on 127.0.0.1. @param port 0: any free one. @return the port, or 0 with errno set
    int listen(unsigned port);
    void start();
    /// Returns when no thread runs any more: what is being answered is sent to its end.
    void stop();

  private:
    void work();
    void serve(int connection);

    Answer answer_;
    int socket_ = -1;
    int stopping_ = -1; // readable once the server stops
    std::vector<std::thread> threads_;
};

} // namespace libprofile::tools
