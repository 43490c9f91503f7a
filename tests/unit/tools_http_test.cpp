// What a request says, and what is no request.
#include "tools/server/http_server.hpp"

#include <gtest/gtest.h>

namespace libprofile::tools {

namespace {

bool parse(std::string_view head, HttpRequest& request) {
    std::size_t body_size = 0;
    return HttpRequest::parse(head, request, body_size);
}

} // namespace

TEST(Http, ARequestHasAPathAndParameters) {
    HttpRequest request;
    std::size_t body_size = 0;
    ASSERT_TRUE(
        HttpRequest::parse("POST /to%2Fken/map?phase=1&metric=a%20b+c&empty HTTP/1.1\r\nhost:  localhost:80 \r\nContent-Length: 12", request, body_size));
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.path, "/to/ken/map");
    EXPECT_EQ(request.parameters, (std::multimap<std::string, std::string>{{"phase", "1"}, {"metric", "a b c"}, {"empty", ""}}));
    EXPECT_EQ(request.hosts, std::vector<std::string>{"localhost:80"});
    EXPECT_EQ(body_size, 12u);
}

TEST(Http, EveryHostIsKept) {
    HttpRequest request;
    ASSERT_TRUE(parse("GET / HTTP/1.1\r\nHost: localhost\r\nHOST: evil", request));
    EXPECT_EQ(request.hosts, (std::vector<std::string>{"localhost", "evil"}));
}

TEST(Http, WhatIsNoRequestIsRefused) {
    HttpRequest request;
    for (const char* head : {"", "GET", "GET /", "GET / FTP/1.1", "GET http://localhost/ HTTP/1.1", " / HTTP/1.1", "GET / HTTP/1.1\r\nno colon",
                             "GET / HTTP/1.1\r\n: x", "POST / HTTP/1.1\r\nContent-Length: -1", "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999",
                             "POST / HTTP/1.1\r\nContent-Length: 5x", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked"})
        EXPECT_FALSE(parse(head, request)) << head;
    EXPECT_TRUE(parse("GET /%zz%4 HTTP/1.0", request));
    EXPECT_EQ(request.path, "/%zz%4") << "what is not coded stays";
}

} // namespace libprofile::tools
