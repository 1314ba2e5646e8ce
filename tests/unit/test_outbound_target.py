import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.http_client.target import RequestRefused, read_headers, read_method, read_url


def test_a_url_is_split_for_the_request_line_and_the_host_header():
    target = read_url("https://Api.Example:8443/a/b?c=d&e=f#part")
    assert (target.scheme, target.host, target.port) == ("https", "api.example", 8443)
    assert target.authority == "api.example:8443"
    assert target.selector == "/a/b?c=d&e=f"


@pytest.mark.parametrize(
    ("url", "authority", "selector"),
    [
        ("http://a.example", "a.example", "/"),
        ("http://a.example:80/", "a.example", "/"),
        ("https://a.example:80/", "a.example:80", "/"),
        ("http://[2606:4700::1111]/", "[2606:4700::1111]", "/"),
        ("http://한글.example/길?말=글", "xn--bj0bj06e.example", "/%EA%B8%B8?%EB%A7%90=%EA%B8%80"),
        ("http://a.example/%2e%2e/%41?x=%20", "a.example", "/%2e%2e/%41?x=%20"),
        ("http://a.example?x=1", "a.example", "/?x=1"),
    ],
)
def test_a_url_is_sent_as_equivalent_ascii(url, authority, selector):
    target = read_url(url)
    assert (target.authority, target.selector) == (authority, selector)


def test_a_target_is_printed_without_its_query():
    assert str(read_url("https://a.example/p?token=secret")) == "https://a.example/p"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "a.example",
        "//a.example/",
        "http://",
        "http:///path",
        "http:a.example",
        "http://:80/",
        "file:///etc/passwd",
        "gopher://127.0.0.1:6379/_FLUSHALL",
        "unix:/run/redis.sock",
        "ftp://a.example/",
        "javascript:alert(1)",
        "data:text/plain,x",
        "http+unix://%2Frun%2Fdocker.sock/",
        "http://a@b",
        "http://a:b@c.example/",
        "http://@b.example/",
        "http://a.example\r\nHost: b.example/",
        "http://a.example/\r\nX: y",
        "http://a.example/ HTTP/1.1\r\nX: y",
        "http://a.example/\tx",
        "http://a.example/\x00",
        "http://a.example\\@b.example/",
        "http://a.example:b/",
        "http://a.example:99999/",
        "http://[::1",
        "http://[fe80::1%25eth0]/",
        "http://a..b/",
        "http://.example/",
        "http://a%2eb.example/",
        "http://a.example\u3002/\ud800",
        "http://" + "a" * 64 + ".example/",
        "http://" + "a." * 130 + "example/",
        "http://a.example/" + "x" * 9_000,
        "http://a;b.example/",
        "http://a,b.example/",
    ],
)
def test_an_invalid_or_ambiguous_url_is_refused(url):
    with pytest.raises(RequestRefused):
        read_url(url)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_and_never_breaks_a_line(text):
    for url in (text, f"http://{text}", f"http://a.example/{text}"):
        try:
            target = read_url(url)
        except RequestRefused:
            continue
        line = f"{target.authority}{target.selector}"
        assert line.isascii()
        assert line.isprintable()
        assert " " not in line
        assert "@" not in target.authority


@pytest.mark.parametrize("method", ["", "GET ", "G\r\nET", "CONNECT", "TRACE", "get\n", "BREW"])
def test_an_unknown_method_is_refused(method):
    with pytest.raises(RequestRefused):
        read_method(method)


def test_a_method_may_be_lower_case():
    assert read_method("post") == "POST"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X-A", "b\r\nX-C: d"),
        ("X-A", "b\nc"),
        ("X-A", "b\x00"),
        ("X-A", "값"),
        ("X-A\r\nX-B", "c"),
        ("X-A:", "b"),
        ("X A", "b"),
        ("", "b"),
        ("Host", "b"),
        ("hOsT", "b"),
        ("Content-Length", "1"),
        ("Transfer-Encoding", "chunked"),
        ("Connection", "keep-alive"),
        ("Proxy-Authorization", "b"),
        ("Upgrade", "h2c"),
        ("TE", "trailers"),
        ("Expect", "100-continue"),
    ],
)
def test_a_header_that_could_change_the_message_is_refused(name, value):
    with pytest.raises(RequestRefused):
        read_headers({name: value})
