"""What the vectors start from. Random numbers are made of a label, so that the file is the same each time."""
import hashlib

LONG = 'iso-kam3-dl-4096-sha512'

# user and password are prepared; the realm of a 401-INIT is algorithm, validation, auth-scope and realm.
PLAIN = {
    'name': 'plain',
    'role': 'origin',
    'validation': 'host',
    'place': 'http://example.com:80',
    'auth-scope': 'example.com',
    'realm': 'a realm',
    'user': 'john',
    'password': 'correct horse battery staple',
    'nc-max': 400,
    'requests': [0, 1, 400],
}

UNICODE = {
    'name': 'beyond ASCII, over TLS',
    'role': 'origin',
    'validation': 'tls-server-end-point',
    'certificate': 'ecdsa-with-SHA256',
    'auth-scope': 'https://www.example.com:8443',
    'realm': 'R\u00e4ume mit "Gold" und \\',
    'user': 'Ren\u00e9e_\u4f50\u85e4_\U00010400',
    'password': 'p\u00e4ssw\u00f6rd \u20ac \U0001f511',
    'nc-max': 10000,
    'requests': [0, 127, 128],
}

EDGES = {
    'name': 'the smallest S_c1 and S_s1, octets with leading zeros, numbers of many octets',
    'role': 'origin',
    'validation': 'tls-server-end-point',
    'certificate': 'ecdsa-with-SHA384',
    'auth-scope': '*.example.com',
    'realm': '',
    'user': 'u' * 128,
    'password': ' ',
    'S_c1': 'smallest',
    'S_s1': '1',
    'nc-max': 10**30,
    'requests': [0, 16383, 16384, 2**32, 2**53 + 1, 10**30],
}

PROXY = {
    'name': 'a proxy',
    'role': 'proxy',
    'validation': 'host',
    'place': 'http://proxy.example.com:3128',
    'auth-scope': 'proxy.example.com',
    'realm': 'proxy',
    'user': 'john',
    'password': 'correct horse battery staple',
    'nc-max': 127,
    'requests': [0, 1],
}


def exchanges(algorithm):
    """The longest group has fewer, since it takes seconds."""
    chosen = (UNICODE, EDGES) if algorithm.token == LONG else (PLAIN, UNICODE, EDGES, PROXY)
    return [completed(algorithm, exchange) for exchange in chosen]


def completed(algorithm, exchange):
    group = algorithm.group
    label = f"{algorithm.token} {exchange['name']}"
    S_c1 = made(f'{label} S_c1', group.smallest_exponent, group.r)
    return exchange | {
        'sid': hashlib.shake_256(f'{label} sid'.encode()).hexdigest(16),
        'S_c1': group.smallest_exponent if 'S_c1' in exchange else S_c1,
        'S_s1': 1 if 'S_s1' in exchange else made(f'{label} S_s1', 1, group.r),
    }


def made(label, smallest, end):
    """A number from the smallest to one less than the end."""
    octets = hashlib.shake_256(label.encode()).digest((end.bit_length() + 7) // 8 + 16)
    return smallest + int.from_bytes(octets, 'big') % (end - smallest)
