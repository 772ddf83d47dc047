"""Octet strings and natural numbers (RFC 8120 section 12.1)."""


def octet(value):
    return bytes([value])


def VI(number):
    """Big-endian in base 128: every octet but the last has its top bit set, and the first is never 0x80."""
    if number < 0:
        raise ValueError('VI encodes natural numbers')
    digits = [number & 127]
    while number := number >> 7:
        digits.append(128 | number & 127)
    return bytes(reversed(digits))


def VS(octets):
    return VI(len(octets)) + octets


def INT(octets):
    return int.from_bytes(octets, 'big')


def OCTETS(number, length):
    """With leading zeros up to the natural length of the set that the number is of (section 3.2.3)."""
    return number.to_bytes(length, 'big')
