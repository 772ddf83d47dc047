"""The four algorithms of RFC 8121 section 3."""
import hashlib
from dataclasses import dataclass

from curve import P256, P521
from modp import MODP_2048, MODP_4096
from octets import OCTETS

ITERATIONS = 16384


@dataclass(frozen=True)
class Algorithm:
    token: str
    group: object
    hash: str
    # How kc1, ks1, vkc and vks are written (RFC 8120 section 3.2.3).
    representation: str

    def H(self, octets):
        return hashlib.new(self.hash, octets).digest()

    @property
    def hash_octets(self):
        return hashlib.new(self.hash).digest_size

    def element_octets(self, number):
        return OCTETS(number, self.group.octets)


ALGORITHMS = {
    algorithm.token: algorithm
    for algorithm in (
        Algorithm('iso-kam3-dl-2048-sha256', MODP_2048, 'sha256', 'base64-fixed-number'),
        Algorithm('iso-kam3-dl-4096-sha512', MODP_4096, 'sha512', 'base64-fixed-number'),
        Algorithm('iso-kam3-ec-p256-sha256', P256, 'sha256', 'hex-fixed-number'),
        Algorithm('iso-kam3-ec-p521-sha512', P521, 'sha512', 'hex-fixed-number'),
    )
}
