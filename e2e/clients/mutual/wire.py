"""Connections over HTTP/1.1: to an origin, to a proxy, and through a proxy's tunnel."""
import http.client

from end_point import end_point


class Wire:
    """Connects when it has to; `dig` gives the socket of a tunnel to the place."""

    def __init__(self, place, context, dig=None):
        self.place = place
        self.context = context
        self.dig = dig
        self.host = place.host.strip('[]')
        if place.scheme == 'https':
            self.connection = http.client.HTTPSConnection(self.host, place.port, context=context)
        else:
            self.connection = http.client.HTTPConnection(self.host, place.port)

    def ready(self):
        if self.connection.sock is not None:
            return
        if self.dig is None:
            self.connection.connect()
        else:
            self.connection.sock = self.context.wrap_socket(self.dig(), server_hostname=self.host)

    def vh(self, place):
        """Of a place that this leads to, for the next request (RFC 8120 section 7)."""
        if place.scheme == 'http':
            return place.vh
        self.ready()
        return end_point(self.connection.sock.getpeercert(binary_form=True))

    def ask(self, method, target, headers):
        self.ready()
        self.connection.request(method, target, headers=in_utf_8(headers))
        response = self.connection.getresponse()
        return response.status, response.headers, response.read()

    def connect(self, authority, headers):
        """CONNECT: the answer, and the socket of the tunnel or None."""
        self.ready()
        # http.client closes its own when it sees that the answer of a tunnel has no end.
        sock = self.connection.sock.dup()
        self.connection.request('CONNECT', authority, headers=in_utf_8({'Host': authority} | headers))
        response = self.connection.getresponse()
        if 200 <= response.status < 300:
            return (response.status, response.headers, b''), sock
        sock.close()
        return (response.status, response.headers, response.read()), None


def in_utf_8(headers):
    """http.client would write text in Latin-1."""
    return {name: value.encode() for name, value in headers.items()}
