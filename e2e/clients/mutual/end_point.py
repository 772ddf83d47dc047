"""The hash of a certificate for tls-server-end-point (RFC 5929 section 4.1)."""
import hashlib

# The hash function that a certificate's signatureAlgorithm names; MD5 and SHA-1 become SHA-256.
HASHES = {
    '1.2.840.113549.1.1.4': 'sha256',  # md5WithRSAEncryption
    '1.2.840.113549.1.1.5': 'sha256',  # sha1WithRSAEncryption
    '1.2.840.113549.1.1.11': 'sha256',  # sha256WithRSAEncryption
    '1.2.840.113549.1.1.12': 'sha384',
    '1.2.840.113549.1.1.13': 'sha512',
    '1.2.840.113549.1.1.14': 'sha224',
    '1.2.840.10045.4.1': 'sha256',  # ecdsa-with-SHA1
    '1.2.840.10045.4.3.1': 'sha224',
    '1.2.840.10045.4.3.2': 'sha256',
    '1.2.840.10045.4.3.3': 'sha384',
    '1.2.840.10045.4.3.4': 'sha512',
}


def end_point(certificate):
    """Of a certificate in DER. It is undefined for those that name no hash function, or more than one."""
    identifier = signature_algorithm(certificate)
    if identifier not in HASHES:
        raise ValueError(f'no channel binding for {identifier}')
    return hashlib.new(HASHES[identifier], certificate).digest()


def signature_algorithm(certificate):
    """SEQUENCE { tbsCertificate, signatureAlgorithm SEQUENCE { OBJECT IDENTIFIER, ... }, ... }"""
    inside, _ = element(certificate, 0)
    _, after = element(inside, 0)
    algorithm, _ = element(inside, after)
    identifier, _ = element(algorithm, 0)
    return dotted(identifier)


def element(der, at):
    """The content of the element that begins there, and where the next one does."""
    length, start = der[at + 1], at + 2
    if length > 127:
        size = length & 127
        length, start = int.from_bytes(der[start : start + size], 'big'), start + size
    return der[start : start + length], start + length


def dotted(identifier):
    numbers, number = [], 0
    for octet in identifier:
        number = number << 7 | octet & 127
        if octet < 128:
            numbers.append(number)
            number = 0
    first = min(numbers[0] // 40, 2)
    return '.'.join(map(str, (first, numbers[0] - 40 * first, *numbers[1:])))
