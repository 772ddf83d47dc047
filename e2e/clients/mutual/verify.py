"""Computes all values of a file of vectors from what each starts from, and reads its fields back.

Writes a line for each value; ends with 1 if one differs.
"""
import json
import sys
from pathlib import Path

import derived
import fields
import messages
from algorithms import ALGORITHMS, ITERATIONS
from end_point import end_point, signature_algorithm
from octets import VI, VS
from vectors import valid


def main(file):
    differing = 0
    for name, found, expected in compared(json.loads(Path(file).read_text(encoding='utf-8'))):
        agrees = found == expected
        differing += not agrees
        print(f"{'agrees' if agrees else 'DIFFERS'}: {name}")
    print(f'{differing} differ')
    return 1 if differing else 0


def compared(file):
    """(name, what was computed, what the file has)"""
    for each in file['VI']:
        yield f"VI({each['number']})", VI(int(each['number'])).hex(), each['octets']
    for each in file['VS']:
        string = bytes.fromhex(each['string'])
        yield f"VS of {len(string)} octets", VS(string).hex(), each['octets']
    for each in file['certificates']:
        der = bytes.fromhex(each['DER'])
        named = each['signatureAlgorithm']
        yield f"signatureAlgorithm {each['name']}", signature_algorithm(der), named
        yield f"vh with {each['name']}", end_point(der).hex(), each['vh']
    certificates = {each['name']: bytes.fromhex(each['DER']) for each in file['certificates']}
    yield 'the algorithms', list(ALGORITHMS), [each['algorithm'] for each in file['algorithms']]
    for each in file['algorithms']:
        algorithm = ALGORITHMS[each['algorithm']]
        yield from of_algorithm(algorithm, each)
        for exchange in each['exchanges']:
            yield from of_exchange(algorithm, exchange, certificates)


def of_algorithm(algorithm, file):
    group = algorithm.group
    parameters = {name: derived.hexadecimal(value) for name, value in group.parameters().items()}
    for name, found in {
        'hash': algorithm.hash,
        'nIterPi': ITERATIONS,
        'hSize': 8 * algorithm.hash_octets,
        'representation': algorithm.representation,
        'octets of an element': group.octets,
        'smallest S_c1': group.smallest_exponent,
        'group': parameters,
    }.items():
        yield f'{algorithm.token}, {name}', found, file[name]
    for element in file['elements']:
        octets = element['octets']
        yield f'{algorithm.token}, element {octets}', valid(algorithm, int(octets, 16)), element['valid']


def of_exchange(algorithm, file, certificates):
    where = f"{algorithm.token}, {file['given']['name']}"
    expected = file['key exchange']
    chosen = {name: int(expected[name], 16) for name in ('S_c1', 'S_s1')}
    given = file['given'] | chosen | {'nc-max': int(file['given']['nc-max'])}
    values = derived.key_exchange(algorithm, given)
    vh = derived.vh(given, certificates)
    yield f'{where}, names of the values', list(values), list(expected)
    for name, value in values.items():
        yield f'{where}, {name}', value, expected.get(name)
    yield f'{where}, z of both', values['z of the client'], values['z of the server']
    yield f'{where}, vh', vh.hex(), file['vh']
    proofs = [derived.request(algorithm, values, vh, int(each['nc'])) for each in file['requests']]
    for proof, each in zip(proofs, file['requests']):
        for name, value in proof.items():
            yield f"{where}, nc {each['nc']}, {name}", value, each[name]
    written = derived.fields(algorithm, given, values, proofs)
    yield f'{where}, number of fields', len(written), len(file['fields'])
    for line, each in zip(written, file['fields']):
        (message, text), = line.items()
        yield f'{where}, {message}', line, each
        yield f'{where}, {message} read', read(algorithm, text), (message, text)


def read(algorithm, text):
    """The name of the message that a field is, and the field written again from what was read."""
    name, _, value = text.encode().decode('latin-1').partition(': ')
    if name.endswith('Info'):
        scheme, direction, parameters = '', 'response', fields.info(value)
    else:
        scheme, parameters = fields.credentials(value)
        direction = 'request' if name.endswith('Authorization') else 'response'
    message, values = messages.read(parameters, direction, algorithm)
    prefix = f'{name}: Mutual ' if scheme == 'mutual' else f'{name}: '
    return message, prefix + messages.write(algorithm, values)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
