"""What the values of parameters are made of (RFC 8120 section 3.2). Each type reads octets and writes field text."""
import base64
import binascii
import re

BARE_TOKEN = r'[0-9A-Za-z][0-9A-Za-z_-]*'
EXTENSIVE_TOKEN = re.compile(rf'{BARE_TOKEN}|-{BARE_TOKEN}(?:\.{BARE_TOKEN})+')
INTEGER = re.compile(r'0|[1-9][0-9]*')
HEX = re.compile(r'(?:[0-9A-Fa-f]{2})+')


class Malformed(Exception):
    """A field that the RFCs do not allow."""


def ascii_of(octets, pattern):
    text = octets.decode('latin-1')
    if not pattern.fullmatch(text):
        raise Malformed(f'not of its type: {text}')
    return text


class ExtensiveToken:
    """Case-insensitive, in lower case wherever it is sent or hashed (section 3.2.1)."""

    def read(octets):
        return ascii_of(octets, EXTENSIVE_TOKEN).lower()

    def write(name, value):
        return f'{name}={value}'


class Integer:
    """A natural number of any length (section 3.2.3; section 6 forbids to cut it)."""

    def read(octets):
        text = ascii_of(octets, INTEGER)
        # Longer ones are refused by int() itself; the RFC lets a recipient take a reasonably large one instead.
        return int(text) if len(text) < 1000 else 10**1000

    def write(name, value):
        return f'{name}={value}'


class String:
    """Unicode in UTF-8 without a byte order mark (section 3.2.2)."""

    def read(octets):
        try:
            text = octets.decode('utf-8')
        except UnicodeDecodeError:
            raise Malformed('not UTF-8') from None
        if text.startswith('\ufeff'):
            raise Malformed('a byte order mark')
        return text

    def write(name, value):
        """ASCII is quoted, all else but the realm is percent-encoded (section 3.1)."""
        if value.isascii() or name == 'realm':
            return f'{name}={quoted(value)}'
        return f"{name}*=UTF-8''{percent_encoded(value)}"


class HexFixedNumber:
    """Its octets are kept, since the length counts (section 3.2.3)."""

    def read(octets):
        return bytes.fromhex(ascii_of(octets, HEX))

    def write(name, value):
        return f'{name}={value.hex()}'


class Base64FixedNumber:
    def read(octets):
        try:
            value = base64.b64decode(octets, validate=True)
        except binascii.Error:
            raise Malformed('not base64') from None
        # Pad bits that are not zero, and padding that is missing or too much (RFC 4648 section 3.5).
        if not value or base64.b64encode(value) != octets:
            raise Malformed('not canonical base64')
        return value

    def write(name, value):
        return f'{name}="{base64.b64encode(value).decode()}"'


NUMBERS = {'hex-fixed-number': HexFixedNumber, 'base64-fixed-number': Base64FixedNumber}


def quoted(text):
    if re.search(r'[\x00-\x08\x0a-\x1f\x7f]', text):
        raise Malformed('a control character cannot be quoted')
    return '"' + re.sub(r'(["\\])', r'\\\1', text) + '"'


# attr-char (RFC 5987 section 3.2.1).
def percent_encoded(text):
    plain = b"!#$&+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    return ''.join(chr(octet) if octet in plain else f'%{octet:02X}' for octet in text.encode())
