"""A client of HTTP Mutual authentication (RFC 8120, RFC 8121), for origins and for proxies.

Writes a line of JSON for each message, and one with `result` for each request. Ends with 0 when every request ended
as AUTH-SUCCEED, 3 when one ended as UNAUTHENTICATED, 4 as AUTH-REQUIRED, and with 5 when the other side broke the
protocol. It goes on after the first two only.
"""
import argparse
import json
import ssl
import sys
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import preparation
from login import ORIGIN, PROXY, Broken, Login, Verdict
from place import place_of
from wire import Wire

STATUSES = {Verdict.SUCCEED: 0, Verdict.UNAUTHENTICATED: 3, Verdict.REQUIRED: 4}
BROKEN = 5


class Refused(Exception):
    """What a proxy answered in place of a tunnel."""


def report(event, **members):
    line = {'event': event} | {name: value for name, value in members.items() if value is not None}
    print(json.dumps(line, ensure_ascii=False), flush=True)


def converse(ask, logins):
    """Asks until each login has its verdict, and those of a proxy first: the last one counts."""
    while True:
        headers = {}
        for login in logins:
            headers |= login.credentials()
        status, fields, content = ask(headers)
        for login in logins:
            verdict = login.judge(status, fields)
            if verdict in (Verdict.AGAIN, Verdict.REQUIRED):
                break
            # A proxy's sequence ends with each request that it lets through.
            login.begin()
        if verdict is not Verdict.AGAIN:
            return verdict, status, content


class Client:
    def __init__(self, asked):
        context = ssl.create_default_context(cafile=asked.tls_ca)
        self.method = asked.method
        self.origin = place_of(asked.url[0])
        self.proxy = asked.proxy and place_of(asked.proxy)
        self.proxied = Wire(self.proxy, context) if self.proxy else None
        self.forwarded = self.proxy is not None and self.origin.scheme == 'http'
        dig = self.dig if self.proxy else None
        self.wire = self.proxied if self.forwarded else Wire(self.origin, context, dig)
        self.logins = [Login(ORIGIN, self.wire, self.origin, *asked.person, report)]
        if self.proxy:
            self.proxy_login = Login(PROXY, self.proxied, self.proxy, *asked.proxy_person, report)
        if self.forwarded:
            self.logins.insert(0, self.proxy_login)

    def dig(self):
        authority = f'{self.origin.host}:{self.origin.port}'
        sock = None

        def ask(headers):
            nonlocal sock
            answer, sock = self.proxied.connect(authority, headers)
            return answer

        self.proxy_login.begin()
        verdict, status, _ = converse(ask, [self.proxy_login])
        report('tunnel', verdict=verdict.value, status=status)
        if sock is None:
            raise Refused(verdict)
        return sock

    def visit(self, url):
        parts = urlsplit(url)
        target = url if self.forwarded else (parts.path or '/') + (parts.query and f'?{parts.query}')
        for login in self.logins:
            login.begin(lambda path, login=login: login.role is PROXY or covers(path, url))
        verdict, status, content = converse(
            lambda headers: self.wire.ask(self.method, target, headers), self.logins
        )
        # A server error without a proof may be anybody's.
        body = None if status >= 500 and verdict is not Verdict.SUCCEED else content.decode(errors='replace')
        report('result', url=url, verdict=verdict.value, status=status, body=body)
        return verdict


def covers(path, url):
    """Whether a list of URIs has one that this begins with, as `domain` of Digest (RFC 7616 section 3.3)."""
    return not path or any(url.startswith(urljoin(url, each)) for each in path.split())


def person(user, file):
    """Prepared (RFC 8120 section 9); the file's last line end is none of the password."""
    if user is None or file is None:
        return None, None
    text = Path(file).read_text(encoding='utf-8').removesuffix('\n')
    return preparation.username(user), preparation.password(text)


def asked():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--url', action='append', required=True, help='several of one origin are asked in turn')
    parser.add_argument('--requests', type=int, default=1, help='how often each is asked')
    parser.add_argument('--method', default='GET')
    parser.add_argument('--user')
    parser.add_argument('--password-file')
    parser.add_argument('--tls-ca', help='PEM')
    parser.add_argument('--proxy', help='http://host:port or https://host:port')
    parser.add_argument('--proxy-user')
    parser.add_argument('--proxy-password-file')
    found = parser.parse_args()
    if len({place_of(url) for url in found.url}) != 1:
        parser.error('URLs of one origin are expected')
    if found.proxy and found.proxy.startswith('https:') and found.url[0].startswith('https:'):
        parser.error('a tunnel within TLS is not for this client')
    found.person = person(found.user, found.password_file)
    found.proxy_person = person(found.proxy_user, found.proxy_password_file)
    return found


def main():
    wanted = asked()
    client = Client(wanted)
    worst = 0
    try:
        for url in wanted.url * wanted.requests:
            verdict = client.visit(url)
            worst = max(worst, STATUSES[verdict])
            if verdict is Verdict.REQUIRED:
                break
    except Refused as refused:
        return max(STATUSES[refused.args[0]], STATUSES[Verdict.UNAUTHENTICATED])
    except Broken as broken:
        report('broken', reason=str(broken))
        return BROKEN
    return worst


if __name__ == '__main__':
    sys.exit(main())
