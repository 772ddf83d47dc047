"""The vectors as one structure: a function of inputs.py, and of nothing else."""
import derived
from algorithms import ALGORITHMS, ITERATIONS
from certificates import CERTIFICATES
from end_point import end_point, signature_algorithm
from inputs import exchanges
from octets import VI, VS

NUMBERS = (0, 1, 100, 127, 128, 10000, 16383, 16384, 1000000, 2**32, 2**64)
STRINGS = (b'', b'Tea', 'Caf\u00e9'.encode(), b'a' * 127, b'a' * 128)


def vectors():
    return {
        'about': 'HTTP Mutual authentication (RFC 8120) with the algorithms of RFC 8121; README.md tells what is what',
        'VI': [{'number': str(number), 'octets': VI(number).hex()} for number in NUMBERS],
        'VS': [{'string': string.hex(), 'octets': VS(string).hex()} for string in STRINGS],
        'certificates': [certificate(name) for name in CERTIFICATES],
        'algorithms': [one(algorithm) for algorithm in ALGORITHMS.values()],
    }


def certificate(name):
    der = CERTIFICATES[name]
    return {
        'name': name,
        'signatureAlgorithm': signature_algorithm(der),
        'DER': der.hex(),
        'vh': end_point(der).hex(),
    }


def one(algorithm):
    group = algorithm.group
    return {
        'algorithm': algorithm.token,
        'hash': algorithm.hash,
        'nIterPi': ITERATIONS,
        'hSize': 8 * algorithm.hash_octets,
        'representation': algorithm.representation,
        'octets of an element': group.octets,
        'smallest S_c1': group.smallest_exponent,
        'group': {name: derived.hexadecimal(value) for name, value in group.parameters().items()},
        'elements': elements(algorithm),
        'exchanges': [exchange(algorithm, given) for given in exchanges(algorithm)],
    }


def elements(algorithm):
    """Numbers that may and that may not be received as K_c1 or K_s1."""
    return [
        {'octets': algorithm.element_octets(number).hex(), 'valid': valid(algorithm, number)}
        for number in numbers_of_interest(algorithm.group)
    ]


def valid(algorithm, number):
    try:
        algorithm.group.element(number)
        return True
    except ValueError:
        return False


def numbers_of_interest(group):
    largest = 256**group.octets - 1
    if isinstance(group.generator, int):
        return (0, 1, 2, 3, group.q - 2, group.q - 1, group.q, group.q + 2, largest)
    generator = group.number(group.generator)
    # The same x and y modulo q, unreduced: another number for a point that has one.
    small = next(x for x in range(group.q) if valid_x(group, x))
    absent = next(x for x in range(group.q) if not valid_x(group, x))
    return (
        *(2 * small, 2 * small + 1, 2 * absent, 2 * absent + 1, generator, generator ^ 1),
        *(2 * (group.q + small), 2 * (group.q + small) + 1, largest),
    )


def valid_x(group, x):
    """Euler's criterion, where `element` takes a root and squares it."""
    return pow(group.square_of_y(x), (group.q - 1) // 2, group.q) == 1


def exchange(algorithm, given):
    values = derived.key_exchange(algorithm, given)
    vh = derived.vh(given, CERTIFICATES)
    proofs = [derived.request(algorithm, values, vh, nc) for nc in given['requests']]
    shown = {name: value for name, value in given.items() if name not in ('S_c1', 'S_s1', 'requests')}
    shown['nc-max'] = str(given['nc-max'])
    return {
        'given': shown,
        'key exchange': values,
        'vh': vh.hex(),
        'requests': proofs,
        'fields': derived.fields(algorithm, given, values, proofs),
    }
