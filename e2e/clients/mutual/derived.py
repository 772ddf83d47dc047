"""All that follows from what a vector starts from, in the order in which it is computed."""
import exchange
import messages
from end_point import end_point
from login import ORIGIN, PROXY
from octets import INT, VS

ROLES = {role.name: role for role in (ORIGIN, PROXY)}


def hexadecimal(number):
    digits = f'{number:x}'
    return digits.zfill(len(digits) + len(digits) % 2)


def key_exchange(algorithm, given):
    """Numbers in hexadecimal; those of elements, hashes and octet strings have all their octets."""
    group, r = algorithm.group, algorithm.group.r
    S_c1, S_s1 = given['S_c1'], given['S_s1']

    def octets(element):
        return algorithm.element_octets(group.number(element))

    salt = exchange.salt(algorithm, given['auth-scope'], given['realm'], given['user'])
    pi = exchange.pi(algorithm, given['password'], salt)
    J = exchange.J(algorithm, pi)
    K_c1 = exchange.K_c1(algorithm, S_c1)
    t_1_input = exchange.t_1_input(algorithm, K_c1)
    t_1 = exchange.t(algorithm, t_1_input)
    to_t_1 = group.power(group.element(K_c1), t_1)
    K_s1 = exchange.K_s1(algorithm, J, K_c1, S_s1)
    t_2_input = exchange.t_2_input(algorithm, K_c1, K_s1)
    t_2 = exchange.t(algorithm, t_2_input)
    to_t_2 = group.power(group.generator, t_2)
    divisor = (S_c1 * t_1 + pi) % r
    return {
        'VS(algorithm)': VS(algorithm.token.encode()).hex(),
        'VS(auth-scope)': VS(given['auth-scope'].encode()).hex(),
        'VS(realm)': VS(given['realm'].encode()).hex(),
        'VS(username)': VS(given['user'].encode()).hex(),
        'PBKDF2 password': given['password'].encode().hex(),
        'PBKDF2 salt': salt.hex(),
        'pi': pi.to_bytes(algorithm.hash_octets, 'big').hex(),
        'J': algorithm.element_octets(J).hex(),
        'S_c1': hexadecimal(S_c1),
        'K_c1': algorithm.element_octets(K_c1).hex(),
        't_1 input': t_1_input.hex(),
        't_1': algorithm.H(t_1_input).hex(),
        'K_c1^t_1': octets(to_t_1).hex(),
        'J * K_c1^t_1': octets(group.product(group.element(J), to_t_1)).hex(),
        'S_s1': hexadecimal(S_s1),
        'K_s1': algorithm.element_octets(K_s1).hex(),
        't_2 input': t_2_input.hex(),
        't_2': algorithm.H(t_2_input).hex(),
        '(S_c1 + t_2) mod r': hexadecimal((S_c1 + t_2) % r),
        '(S_c1 * t_1 + pi) mod r': hexadecimal(divisor),
        '1 / (S_c1 * t_1 + pi) mod r': hexadecimal(pow(divisor, -1, r)),
        '(S_c1 + t_2) / (S_c1 * t_1 + pi) mod r': hexadecimal(
            exchange.client_exponent(algorithm, pi, S_c1, K_c1, K_s1)
        ),
        'g^t_2': octets(to_t_2).hex(),
        'K_c1 * g^t_2': octets(group.product(group.element(K_c1), to_t_2)).hex(),
        'z of the client': algorithm.element_octets(exchange.client_z(algorithm, pi, S_c1, K_c1, K_s1)).hex(),
        'z of the server': algorithm.element_octets(exchange.server_z(algorithm, K_c1, K_s1, S_s1)).hex(),
    }


def vh(given, certificates):
    if given['validation'] == 'host':
        return given['place'].encode()
    return end_point(certificates[given['certificate']])


def request(algorithm, values, vh, nc):
    """VK_c and VK_s of one request."""
    elements = [INT(bytes.fromhex(values[name])) for name in ('K_c1', 'K_s1', 'z of the client')]
    found = {'nc': str(nc)}
    for name, side in (('VK_c', exchange.CLIENT), ('VK_s', exchange.SERVER)):
        found[f'{name} input'] = exchange.VK_input(algorithm, side, *elements, nc, vh).hex()
        found[name] = exchange.VK(algorithm, side, *elements, nc, vh).hex()
    return found


def fields(algorithm, given, values, proofs):
    """The fields of all messages, in the order of a transcript."""
    role = ROLES[given['role']]
    realm = {'algorithm': algorithm.token} | {name: given[name] for name in messages.REALM[1:]}
    sid = {'sid': bytes.fromhex(given['sid'])}
    bounds = {'nc-max': given['nc-max'], 'nc-window': 128, 'time': 60}
    K_c1, K_s1 = bytes.fromhex(values['K_c1']), bytes.fromhex(values['K_s1'])

    def line(name, message):
        scheme = '' if name == role.info else 'Mutual '
        return f'{name}: {scheme}{messages.write(algorithm, message)}'

    def pair(proof):
        nc, vkc, vks = int(proof['nc']), bytes.fromhex(proof['VK_c']), bytes.fromhex(proof['VK_s'])
        return [
            {'req-VFY-C': line(role.credentials, realm | sid | {'nc': nc, 'vkc': vkc})},
            {'200-VFY-S': line(role.info, sid | {'vks': vks})},
        ]

    return [
        {'401-INIT': line(role.challenge, realm | {'reason': 'initial'})},
        {'req-KEX-C1': line(role.credentials, realm | {'user': given['user'], 'kc1': K_c1})},
        {'401-KEX-S1': line(role.challenge, realm | sid | {'ks1': K_s1} | bounds)},
        *(line for proof in proofs for line in pair(proof)),
        {'401-STALE': line(role.challenge, realm | {'reason': 'stale-session'})},
    ]
