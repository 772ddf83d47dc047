"""Fields of authentication as text (RFC 7235 section 2.1, RFC 7615, RFC 5987 section 3.2).

Text is what http.client gives: a character for each octet. A parameter's value is octets. No name comes twice,
whatever its case and syntax (RFC 8120 sections 3.1 and 4).
"""
import re
from urllib.parse import unquote_to_bytes

from values import Malformed

TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
QUOTED = r'"(?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t \x21-\x7e\x80-\xff])*"'
PARAMETER = re.compile(rf'({TOKEN})[ \t]*=[ \t]*({TOKEN}|{QUOTED})')
SCHEME = re.compile(rf'({TOKEN})(?: +|(?=[ \t]*(?:,|$)))')
TOKEN68 = re.compile(r'[A-Za-z0-9._~+/-]+=*(?=[ \t]*(?:,|$))')
SEPARATOR = re.compile(r'[ \t]*(?:,[ \t]*)+|[ \t]*$')
EXTENDED = re.compile(r"[Uu][Tt][Ff]-8''((?:[!#$&+.^_`|~0-9A-Za-z-]|%[0-9A-Fa-f]{2})*)")


def challenges(text):
    """All challenges of WWW-Authenticate or Proxy-Authenticate: (scheme in lower case, parameters)."""
    found = []
    at = re.compile(r'[ \t,]*').match(text).end()
    while at < len(text):
        parameter = PARAMETER.match(text, at)
        if parameter and found:
            add(found[-1][1], parameter)
            at = parameter.end()
        else:
            at = challenge(text, at, found)
        separator = SEPARATOR.match(text, at)
        if not separator:
            raise Malformed('no list of challenges')
        at = separator.end()
    return found


def challenge(text, at, found):
    """Reads a scheme with its token68 or first parameter, and says where that ends."""
    scheme = SCHEME.match(text, at)
    if not scheme:
        raise Malformed('no auth-scheme')
    parameters = {}
    found.append((scheme[1].lower(), parameters))
    if first := PARAMETER.match(text, scheme.end()):
        add(parameters, first)
        return first.end()
    if token68 := TOKEN68.match(text, scheme.end()):
        return token68.end()
    return scheme.end()


def credentials(text):
    """Authorization or Proxy-Authorization: one challenge by its grammar."""
    found = challenges(text)
    if len(found) != 1:
        raise Malformed('credentials of one scheme were expected')
    return found[0]


def info(text):
    """Authentication-Info or Proxy-Authentication-Info: parameters, and no scheme (RFC 7615 section 3)."""
    parameters = {}
    at = re.compile(r'[ \t,]*').match(text).end()
    while at < len(text):
        parameter = PARAMETER.match(text, at)
        separator = parameter and SEPARATOR.match(text, parameter.end())
        if not separator:
            raise Malformed('no list of parameters')
        add(parameters, parameter)
        at = separator.end()
    return parameters


def add(parameters, match):
    name, value = match[1].lower(), match[2]
    octets = unquoted(value) if value.startswith('"') else value.encode('latin-1')
    if name.endswith('*'):
        name, octets = name[:-1], extended(name, value)
    if name in parameters:
        raise Malformed(f'{name} comes twice')
    parameters[name] = octets


def unquoted(value):
    return re.sub(r'\\(.)', r'\1', value[1:-1], flags=re.DOTALL).encode('latin-1')


def extended(name, value):
    """RFC 8120 section 3.1: in UTF-8, without a language, never for ASCII alone, never for the realm."""
    match = EXTENDED.fullmatch(value)
    if name == 'realm*' or not match:
        raise Malformed(f'{name} is no extended parameter')
    octets = unquote_to_bytes(match[1])
    if octets.isascii():
        raise Malformed(f'{name} has ASCII alone')
    return octets
