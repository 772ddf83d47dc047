"""The six messages (RFC 8120 section 4): their parameters, read strictly and written canonically."""
import re

from algorithms import ALGORITHMS
from values import ExtensiveToken, HexFixedNumber, Integer, Malformed, NUMBERS, String

REALM = ('algorithm', 'validation', 'auth-scope', 'realm')

# What marks a message; its mandatory parameters; what it may have besides.
MESSAGES = {
    '401-INIT': ('reason', ('version', 'algorithm', 'validation', 'realm', 'reason'), ('auth-scope',)),
    'req-KEX-C1': ('kc1', ('version', 'algorithm', 'validation', 'realm', 'user', 'kc1'), ('auth-scope',)),
    '401-KEX-S1': (
        'ks1',
        ('version', 'algorithm', 'validation', 'realm', 'sid', 'ks1', 'nc-max', 'nc-window', 'time'),
        ('auth-scope', 'path'),
    ),
    'req-VFY-C': (
        'vkc',
        ('version', 'algorithm', 'validation', 'realm', 'sid', 'nc', 'vkc'),
        ('auth-scope',),
    ),
    '200-VFY-S': ('vks', ('version', 'sid', 'vks'), ()),
}

TYPES = {
    'version': ExtensiveToken,
    'algorithm': ExtensiveToken,
    'validation': ExtensiveToken,
    'auth-scope': String,
    'realm': String,
    'reason': ExtensiveToken,
    'user': String,
    'sid': HexFixedNumber,
    'nc-max': Integer,
    'nc-window': Integer,
    'time': Integer,
    'path': String,
    'nc': Integer,
}

# The order in which they are written.
ORDER = (*TYPES, 'kc1', 'ks1', 'vkc', 'vks')

ELEMENTS = ('kc1', 'ks1')
HASHES = ('vkc', 'vks')

# What excludes one another in a message of each direction, and what never comes in it (section 4).
EXCLUSIVE = {'response': re.compile(r'reason|ks\d+|vks'), 'request': re.compile(r'kc\d+|vkc')}
FOREIGN = {'response': re.compile(r'kc\d+|vkc'), 'request': re.compile(r'ks\d+|vks')}


def read(parameters, direction, algorithm=None):
    """The name of the message and its values; `algorithm` is that of the session, where the message names none."""
    marks = [name for name in parameters if EXCLUSIVE[direction].fullmatch(name)]
    if len(marks) != 1 or any(FOREIGN[direction].fullmatch(name) for name in parameters):
        raise Malformed('not one message')
    name = next((name for name, (mark, *_) in MESSAGES.items() if mark == marks[0]), None)
    if name is None:
        raise Malformed(f'no message has {marks[0]}')
    _, mandatory, optional = MESSAGES[name]
    if missing := [each for each in mandatory if each not in parameters]:
        raise Malformed(f'{name} without {missing[0]}')
    values = {
        each: TYPES[each].read(parameters[each])
        for each in (*mandatory, *optional)
        if each in parameters and each in TYPES
    }
    if values['version'] != '1':
        raise Malformed('another version')
    if 'algorithm' in values:
        algorithm = ALGORITHMS.get(values['algorithm'])
    for each in mandatory:
        if each not in TYPES:
            values[each] = number(algorithm, each, parameters[each])
    if name == '401-INIT' and values['reason'] == 'stale-session':
        name = '401-STALE'
    return name, values


def number(algorithm, name, octets):
    """kc1, ks1, vkc or vks, of their natural length (section 3.2.3)."""
    if algorithm is None:
        raise Malformed('an unknown algorithm')
    value = NUMBERS[algorithm.representation].read(octets)
    if len(value) != (algorithm.group.octets if name in ELEMENTS else algorithm.hash_octets):
        raise Malformed(f'{name} has another length')
    return value


def write(algorithm, values):
    """All parameters of a message, without the scheme. Elements and hashes are octets."""
    types = TYPES | dict.fromkeys((*ELEMENTS, *HASHES), NUMBERS[algorithm.representation])
    values = {'version': '1'} | values
    return ', '.join(types[name].write(name, values[name]) for name in ORDER if name in values)
