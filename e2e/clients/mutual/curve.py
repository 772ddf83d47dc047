"""The groups of the elliptic-curve algorithms (RFC 8121 section 3.3): y^2 = x^3 - 3x + b over a prime field.

Points are pairs of affine coordinates, and None is the infinity point. The group is written with the same names as
that of the discrete logarithms, so `power` is the multiplication of a point by an integer, `product` the addition.
"""


class Curve:
    # The cofactor is 1, so the checks with h say only that a point is not the infinity point.
    smallest_exponent = 1

    def __init__(self, q, b, r, generator):
        self.q = q
        self.b = b
        self.r = r
        self.generator = generator
        # P(p) = 2x + (y mod 2) < 2q.
        self.octets = ((2 * q - 1).bit_length() + 7) // 8

    def product(self, one, other):
        if one is None:
            return other
        if other is None:
            return one
        (x, y), (u, v) = one, other
        if x != u:
            slope = (v - y) * pow(u - x, -1, self.q)
        elif (y + v) % self.q == 0:
            return None
        else:
            slope = 3 * (x * x - 1) * pow(2 * y, -1, self.q)
        w = (slope * slope - x - u) % self.q
        return w, (slope * (x - w) - y) % self.q

    def power(self, point, integer):
        result = None
        for digit in f'{integer % self.r:b}':
            result = self.product(result, result)
            if digit == '1':
                result = self.product(result, point)
        return result

    def number(self, point):
        """The function P, which the infinity point has no value of."""
        if point is None:
            raise ValueError('the infinity point')
        x, y = point
        return 2 * x + y % 2

    def element(self, number):
        """The function P'."""
        x, odd = divmod(number, 2)
        if x >= self.q:
            raise ValueError('no coordinate')
        square = self.square_of_y(x)
        # Both fields have q = 3 (mod 4).
        y = pow(square, (self.q + 1) // 4, self.q)
        if y * y % self.q != square:
            raise ValueError('not on the curve')
        # y is never 0: a group of odd order has no point that is its own inverse.
        return x, y if y % 2 == odd else self.q - y

    def square_of_y(self, x):
        return (x * x * x - 3 * x + self.b) % self.q

    def parameters(self):
        x, y = self.generator
        return {'q': self.q, 'a': self.q - 3, 'b': self.b, 'G.x': x, 'G.y': y, 'r': self.r, 'h': 1}


def field(hexadecimal):
    return int(''.join(hexadecimal.split()), 16)


# FIPS PUB 186-4, appendix D.1.2.3.
P256 = Curve(
    q=2**256 - 2**224 + 2**192 + 2**96 - 1,
    b=field('5ac635d8 aa3a93e7 b3ebbd55 769886bc 651d06b0 cc53b0f6 3bce3c3e 27d2604b'),
    r=field('ffffffff 00000000 ffffffff ffffffff bce6faad a7179e84 f3b9cac2 fc632551'),
    generator=(
        field('6b17d1f2 e12c4247 f8bce6e5 63a440f2 77037d81 2deb33a0 f4a13945 d898c296'),
        field('4fe342e2 fe1a7f9b 8ee7eb4a 7c0f9e16 2bce3357 6b315ece cbb64068 37bf51f5'),
    ),
)

# FIPS PUB 186-4, appendix D.1.2.5.
P521 = Curve(
    q=2**521 - 1,
    b=field("""
        051 953eb961 8e1c9a1f 929a21a0 b68540ee a2da725b 99b315f3 b8b48991 8ef109e1 56193951 ec7e937b 1652c0bd
        3bb1bf07 3573df88 3d2c34f1 ef451fd4 6b503f00"""),
    r=field("""
        1ff ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff fffffffa 51868783 bf2f966b 7fcc0148
        f709a5d0 3bb5c9b8 899c47ae bb6fb71e 91386409"""),
    generator=(
        field("""
            0c6 858e06b7 0404e9cd 9e3ecb66 2395b442 9c648139 053fb521 f828af60 6b4d3dba a14b5e77 efe75928
            fe1dc127 a2ffa8de 3348b3c1 856a429b f97e7e31 c2e5bd66"""),
        field("""
            118 39296a78 9a3bc004 5c8a5fb4 2c7d1bd9 98f54449 579b4468 17afbd17 273e662c 97ee7299 5ef42640
            c550b901 3fad0761 353c7086 a272c240 88be9476 9fd16650"""),
    ),
)
