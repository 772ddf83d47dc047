"""Where a client is: scheme, host and port of an origin or a proxy, and what follows from them."""
from dataclasses import dataclass
from urllib.parse import urlsplit

DEFAULT_PORTS = {'http': 80, 'https': 443}


@dataclass(frozen=True)
class Place:
    scheme: str
    # As in a URI: in lower case, an IPv6 address in brackets.
    host: str
    port: int

    @property
    def vh(self):
        """Of the validation `host`: always with the port (RFC 8120 section 7)."""
        return f'{self.scheme}://{self.host}:{self.port}'.encode()

    @property
    def origin(self):
        """The single-server type of auth-scope: without the default port (section 5)."""
        port = '' if self.port == DEFAULT_PORTS[self.scheme] else f':{self.port}'
        return f'{self.scheme}://{self.host}{port}'

    @property
    def validation(self):
        """The only method that may be asked for here (section 7)."""
        return 'tls-server-end-point' if self.scheme == 'https' else 'host'

    def within(self, auth_scope):
        """Whether this host is in the scope (section 5). One label alone is nobody's domain."""
        if auth_scope in (self.host, self.origin):
            return True
        postfix = auth_scope[1:]
        return (
            auth_scope.startswith('*.')
            and '.' in postfix[1:]
            and not self.host.replace('.', '').isdigit()
            and f'.{self.host}'.endswith(postfix)
        )


def place_of(url):
    parts = urlsplit(url)
    host = f'[{parts.hostname}]' if ':' in parts.hostname else parts.hostname
    return Place(parts.scheme, host, parts.port or DEFAULT_PORTS[parts.scheme])
