"""A session of a client: what came of a key exchange, and the requests that it proves (RFC 8120 section 6)."""
import hmac
import time

import exchange
from octets import INT
from values import Malformed


class Offer:
    """K_c1, sent and not answered yet. Another S_c1 is needed in the unlikely case that z has no exponent."""

    def __init__(self, realm, algorithm, user, pi):
        self.realm = realm
        self.algorithm = algorithm
        self.user = user
        self.pi = pi
        self.S_c1 = exchange.random_S_c1(algorithm)
        self.K_c1 = exchange.K_c1(algorithm, self.S_c1)

    def message(self):
        kc1 = self.algorithm.element_octets(self.K_c1)
        return self.realm | {'user': self.user, 'kc1': kc1}

    def answered(self, values):
        K_s1 = INT(values['ks1'])
        try:
            z = exchange.client_z(self.algorithm, self.pi, self.S_c1, self.K_c1, K_s1)
        except ValueError as refused:
            raise Malformed(f'ks1: {refused}') from None
        return Session(self.realm, self.algorithm, values, (self.K_c1, K_s1, z))


class Session:
    def __init__(self, realm, algorithm, values, elements):
        self.realm = realm
        self.algorithm = algorithm
        self.sid = values['sid']
        self.nc_max = values['nc-max']
        self.ends = time.monotonic() + values['time']
        self.elements = elements
        # "counts from zero up to the value of nc-max"
        self.next_nc = 0

    @property
    def usable(self):
        return self.next_nc <= self.nc_max and time.monotonic() < self.ends

    def message(self, vh):
        """A req-VFY-C, and the VK_s that has to come back."""
        nc = self.next_nc
        self.next_nc += 1
        vkc = exchange.VK(self.algorithm, exchange.CLIENT, *self.elements, nc, vh)
        expected = exchange.VK(self.algorithm, exchange.SERVER, *self.elements, nc, vh)
        return self.realm | {'sid': self.sid, 'nc': nc, 'vkc': vkc}, expected

    def proven(self, values, expected):
        return values['sid'] == self.sid and hmac.compare_digest(values['vks'], expected)
