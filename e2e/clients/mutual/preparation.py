"""User names and passwords before they are used (RFC 8120 section 9, by RFC 7613).

What a PRECIS profile maps is mapped. Of what it forbids, the Bidi Rule and the contextual rules are not looked at:
preparation is the sender's duty, and a name that no server has cannot sign in.
"""
import unicodedata

IDENTIFIER = {'Ll', 'Lu', 'Lt', 'Lo', 'Lm', 'Nd', 'Mn', 'Mc'}
FORBIDDEN = {'Cc', 'Cs', 'Cn', 'Co'}


class Unprepared(Exception):
    """What no profile lets through."""


def username(text):
    """UsernameCasePreserved (RFC 7613 section 3.3): an identifier, its wide and narrow forms mapped, in NFC."""
    mapped = unicodedata.normalize('NFC', ''.join(map(width_mapped, text)))
    if not mapped or not all(map(of_identifier, mapped)):
        raise Unprepared('not a user name')
    return mapped


def password(text):
    """OpaqueString (RFC 7613 section 4.2): spaces are U+0020, in NFC."""
    spaced = ''.join(' ' if unicodedata.category(each) == 'Zs' else each for each in text)
    mapped = unicodedata.normalize('NFC', spaced)
    if not mapped or any(unicodedata.category(each) in FORBIDDEN for each in mapped):
        raise Unprepared('not a password')
    return mapped


def width_mapped(character):
    kind, *decomposed = unicodedata.decomposition(character).split() or ['']
    if kind not in ('<wide>', '<narrow>'):
        return character
    return ''.join(chr(int(code, 16)) for code in decomposed)


def of_identifier(character):
    """RFC 7564 section 4.2: visible ASCII, letters, digits and marks that have no compatibility form."""
    if character.isascii():
        return '!' <= character <= '~'
    same = unicodedata.normalize('NFKC', character) == character
    return same and unicodedata.category(character) in IDENTIFIER
