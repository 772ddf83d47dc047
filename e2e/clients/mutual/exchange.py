"""The key exchange (RFC 8121 sections 3.2 and 3.3) and the default functions (RFC 8120 section 12.2).

K_c1, K_s1, J and z are elements' numbers: for the elliptic curves the function P of the points. A ValueError says that
a value is none that may be sent or used.
"""
import hashlib
import secrets

from algorithms import ITERATIONS
from octets import INT, VI, VS, octet


def salt(algorithm, auth_scope, realm, user):
    """The token is in lower case, whatever the case in which it came (RFC 8120 section 3.2.1)."""
    return b''.join(VS(part.encode()) for part in (algorithm.token, auth_scope, realm, user))


def pi(algorithm, password, salted_with):
    return INT(
        hashlib.pbkdf2_hmac(
            algorithm.hash, password.encode(), salted_with, ITERATIONS, algorithm.hash_octets
        )
    )


def J(algorithm, pi):
    group = algorithm.group
    return group.number(group.power(group.generator, pi))


def random_S_c1(algorithm):
    smallest = algorithm.group.smallest_exponent
    return smallest + secrets.randbelow(algorithm.group.r - smallest)


def random_S_s1(algorithm):
    return 1 + secrets.randbelow(algorithm.group.r - 1)


def K_c1(algorithm, S_c1):
    group = algorithm.group
    return group.number(group.power(group.generator, S_c1))


def t_1_input(algorithm, K_c1):
    return octet(1) + algorithm.element_octets(K_c1)


def t_2_input(algorithm, K_c1, K_s1):
    return octet(2) + algorithm.element_octets(K_c1) + algorithm.element_octets(K_s1)


def t(algorithm, hashed):
    return INT(algorithm.H(hashed))


def K_s1(algorithm, J, K_c1, S_s1):
    group = algorithm.group
    t_1 = t(algorithm, t_1_input(algorithm, K_c1))
    base = group.product(group.element(J), group.power(group.element(K_c1), t_1))
    return group.number(group.power(base, S_s1))


def client_exponent(algorithm, pi, S_c1, K_c1, K_s1):
    t_1 = t(algorithm, t_1_input(algorithm, K_c1))
    t_2 = t(algorithm, t_2_input(algorithm, K_c1, K_s1))
    r = algorithm.group.r
    return (S_c1 + t_2) * pow(S_c1 * t_1 + pi, -1, r) % r


def client_z(algorithm, pi, S_c1, K_c1, K_s1):
    group = algorithm.group
    received = group.element(K_s1)
    return group.number(group.power(received, client_exponent(algorithm, pi, S_c1, K_c1, K_s1)))


def server_z(algorithm, K_c1, K_s1, S_s1):
    group = algorithm.group
    t_2 = t(algorithm, t_2_input(algorithm, K_c1, K_s1))
    base = group.product(group.element(K_c1), group.power(group.generator, t_2))
    return group.number(group.power(base, S_s1))


CLIENT = 4
SERVER = 3


def VK_input(algorithm, side, K_c1, K_s1, z, nc, vh):
    elements = b''.join(algorithm.element_octets(number) for number in (K_c1, K_s1, z))
    return octet(side) + elements + VI(nc) + VS(vh)


def VK(algorithm, side, K_c1, K_s1, z, nc, vh):
    """VK_c of the client, VK_s of the server: as the octets of the number, which has the length of the hash."""
    return algorithm.H(VK_input(algorithm, side, K_c1, K_s1, z, nc, vh))
