"""Octets and groups: what the RFCs and FIPS PUB 186-4 say of them."""
import hashlib
import unittest

import exchange
from algorithms import ALGORITHMS
from curve import P256, P521
from modp import MODP_2048, MODP_4096
from octets import INT, OCTETS, VI, VS

# FIPS PUB 186-4 appendix D.1.2: what b was made from, by D.5 of X9.62.
SEEDS = {
    P256: 'c49d360886e704936a6678e1139d26b7819f7e90',
    P521: 'd09e8800291cb85396cc6717393284aaa0da64ba',
}

# RFC 3526 sections 3 and 5: q = 2^b - 2^(b-64) - 1 + 2^64 * (floor(2^(b-130) * pi) + n).
FORMULAS = {MODP_2048: (2048, 124476), MODP_4096: (4096, 240904)}


class Octets(unittest.TestCase):
    def test_examples_of_rfc_8120_section_12_1(self):
        self.assertEqual(VI(0), b'\000')
        self.assertEqual(VI(100), b'd')
        self.assertEqual(VI(10000), b'\316\020')
        self.assertEqual(VI(1000000), b'\275\204@')
        self.assertEqual(VS(b''), b'\000')
        self.assertEqual(VS(b'Tea'), b'\003Tea')
        self.assertEqual(VS('Caf\u00e9'.encode()), b'\005Caf\303\251')
        self.assertEqual(VS(b'a' * 10000), b'\316\020' + b'a' * 10000)
        self.assertEqual(len(VS(b'a' * 10000)), 10002)

    def test_INT_and_OCTETS(self):
        for number in (0, 1, 255, 256, 2**64 + 1):
            self.assertEqual(INT(OCTETS(number, 9)), number)
        with self.assertRaises(OverflowError):
            OCTETS(256, 1)

    def test_VI_is_for_natural_numbers(self):
        with self.assertRaises(ValueError):
            VI(-1)


class Primes(unittest.TestCase):
    def test_q_is_what_rfc_3526_makes_of_pi(self):
        for group, (bits, added) in FORMULAS.items():
            middle = (pi_bits(bits - 130) + added) << 64
            self.assertEqual(group.q, 2**bits - 2 ** (bits - 64) - 1 + middle)

    def test_q_and_r_are_prime(self):
        for group in (MODP_2048, MODP_4096, P256, P521):
            self.assertTrue(probably_prime(group.q))
            self.assertTrue(probably_prime(group.r))

    def test_g_is_of_order_r(self):
        for group in (MODP_2048, MODP_4096):
            self.assertNotEqual(group.generator, 1)
            self.assertEqual(pow(group.generator, group.r, group.q), 1)


class Curves(unittest.TestCase):
    def test_b_is_verifiably_random(self):
        for curve, seed in SEEDS.items():
            c = expanded(seed, curve.q.bit_length())
            self.assertEqual(curve.b * curve.b * c % curve.q, -27 % curve.q)

    def test_G_is_on_the_curve_and_of_order_r(self):
        for curve in SEEDS:
            x, y = curve.generator
            self.assertEqual(y * y % curve.q, curve.square_of_y(x))
            almost = curve.power(curve.generator, curve.r - 1)
            self.assertEqual(almost, (x, curve.q - y))
            self.assertIsNone(curve.product(almost, curve.generator))

    def test_multiples_add_up(self):
        for curve in SEEDS:
            G = curve.generator
            sums = [None]
            for _ in range(8):
                sums.append(curve.product(sums[-1], G))
            self.assertEqual(sums, [curve.power(G, n) for n in range(9)])
            self.assertEqual(curve.product(sums[3], sums[5]), sums[8])
            self.assertEqual(curve.product(sums[5], sums[3]), sums[8])

    def test_P_and_its_inverse(self):
        for curve in SEEDS:
            number = curve.number(curve.generator)
            self.assertEqual(curve.element(number), curve.generator)
            self.assertEqual(curve.element(number ^ 1), curve.power(curve.generator, curve.r - 1))
            with self.assertRaises(ValueError):
                curve.number(None)


class Sizes(unittest.TestCase):
    def test_rfc_8121_appendix_b(self):
        for token, hash_bits, octets, smallest in (
            ('iso-kam3-dl-2048-sha256', 256, 256, 2048),
            ('iso-kam3-dl-4096-sha512', 512, 512, 4096),
            ('iso-kam3-ec-p256-sha256', 256, 33, 1),
            ('iso-kam3-ec-p521-sha512', 512, 66, 1),
        ):
            algorithm = ALGORITHMS[token]
            self.assertEqual(8 * algorithm.hash_octets, hash_bits)
            self.assertEqual(algorithm.group.octets, octets)
            self.assertEqual(algorithm.group.smallest_exponent, smallest)

    def test_the_smallest_S_c1_exceeds_the_logarithm_of_q(self):
        for group in FORMULAS:
            self.assertGreater(2**group.smallest_exponent, group.q)
            self.assertLess(2 ** (group.smallest_exponent - 1), group.q)


class Exchanges(unittest.TestCase):
    def test_both_sides_agree_only_on_one_password(self):
        for token in ('iso-kam3-dl-2048-sha256', 'iso-kam3-ec-p256-sha256'):
            algorithm = ALGORITHMS[token]
            salt = exchange.salt(algorithm, 'example.com', 'realm', 'john')
            pi, other = (exchange.pi(algorithm, password, salt) for password in ('one', 'other'))
            S_c1, S_s1 = exchange.random_S_c1(algorithm), exchange.random_S_s1(algorithm)
            K_c1 = exchange.K_c1(algorithm, S_c1)
            K_s1 = exchange.K_s1(algorithm, exchange.J(algorithm, pi), K_c1, S_s1)
            z = exchange.server_z(algorithm, K_c1, K_s1, S_s1)
            self.assertEqual(exchange.client_z(algorithm, pi, S_c1, K_c1, K_s1), z)
            self.assertNotEqual(exchange.client_z(algorithm, other, S_c1, K_c1, K_s1), z)


def probably_prime(number):
    """Miller-Rabin with two bases: these are no numbers that somebody chose to deceive it."""
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    return all(witness(pow(base, odd, number), twos, number) for base in (3, 5))


def witness(power, twos, number):
    if power in (1, number - 1):
        return True
    return any((power := power * power % number) == number - 1 for _ in range(twos - 1))


def pi_bits(bits):
    """The integer part of 2^bits * pi, by Machin's formula."""
    scale = 1 << (bits + 64)
    return (4 * (4 * arctan(5, scale) - arctan(239, scale))) >> 64


def arctan(inverse, scale):
    power, total, n, sign = scale // inverse, 0, 1, 1
    while power:
        total += sign * (power // n)
        power, n, sign = power // (inverse * inverse), n + 2, -sign
    return total


def expanded(seed, bits):
    """c of a seed: SHA-1 of the seed, cut to one bit less than q has, then of the numbers behind it (X9.62)."""
    blocks, first = divmod(bits - 1, 160)
    start = hashlib.sha1(bytes.fromhex(seed)).digest()
    c = INT(start) % (1 << first)
    for i in range(1, blocks + 1):
        octets = OCTETS((int(seed, 16) + i) % 2**160, 20)
        c = c << 160 | INT(hashlib.sha1(octets).digest())
    return c


if __name__ == '__main__':
    unittest.main()
