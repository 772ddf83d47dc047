"""Signatures of HTTP requests, from the text of RFC 9421 alone, as far as GNAP needs them.

Components are @method, @target-uri, fields, and members of Signature and Signature-Input (section 2). Keys are
private JWKs, and their `alg` is the algorithm (section 3.3.7).
"""

import base64
import re
from dataclasses import dataclass, field

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

PRIVATE_MEMBERS = {"d", "p", "q", "dp", "dq", "qi", "oth", "k"}


@dataclass
class Message:
    """A request. The names of its fields are in lower case."""

    method: str
    target_uri: str
    fields: dict
    # For each of the two dictionaries, the text of each member by its label.
    members: dict = field(default_factory=lambda: {"signature-input": {}, "signature": {}})

    def value(self, name, key):
        if name == "@method":
            return self.method
        if name == "@target-uri":
            return self.target_uri
        if key is not None:
            return self.members[name][key]
        return self.fields[name].strip(" \t")

    def signature_fields(self):
        """The two fields of section 4."""
        return {
            name: ", ".join(f"{label}={text}" for label, text in labelled.items())
            for name, labelled in self.members.items()
        }


# RFC 8941 section 4.1: serializing.


def string(text):
    if not re.fullmatch(r"[ -~]*", text):
        raise ValueError(f"not a structured field string: {text!r}")
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


def bytes_text(octets):
    return ":" + base64.b64encode(octets).decode() + ":"


def parameters_text(parameters):
    """Leaves out the parameters whose value is None."""
    return "".join(
        f";{name}={value if isinstance(value, int) else string(value)}"
        for name, value in parameters.items()
        if value is not None
    )


# RFC 9421 sections 2.5 and 3.1. A component is its name with the value of its `key` parameter or None.


def identifier(name, key):
    return string(name) + parameters_text({"key": key})


def input_text(components, parameters):
    """A member of Signature-Input."""
    return "(" + " ".join(identifier(*one) for one in components) + ")" + parameters_text(parameters)


def signature_base(message, components, signature_input):
    lines = [f"{identifier(*one)}: {message.value(*one)}" for one in components]
    return "\n".join([*lines, f'"@signature-params": {signature_input}']).encode("ascii")


def sign(message, label, components, parameters, jwk):
    """Adds a signature to the message."""
    signature_input = input_text(components, parameters)
    octets = signature_of(signature_base(message, components, signature_input), jwk)
    message.members["signature-input"][label] = signature_input
    message.members["signature"][label] = bytes_text(octets)


# RFC 7517 and RFC 7518: keys and algorithms.


def public_jwk(jwk):
    return {name: value for name, value in jwk.items() if name not in PRIVATE_MEMBERS}


def octets_of(jwk, name):
    return base64.urlsafe_b64decode(jwk[name] + "==")


def number_of(jwk, name):
    return int.from_bytes(octets_of(jwk, name), "big")


def rsa_key(jwk):
    public = rsa.RSAPublicNumbers(number_of(jwk, "e"), number_of(jwk, "n"))
    names = ("p", "q", "d", "dp", "dq", "qi")
    return rsa.RSAPrivateNumbers(*(number_of(jwk, name) for name in names), public).private_key()


def ecdsa(curve, algorithm):
    """R and S have the length of the curve's order each."""

    def signature(octets, jwk):
        key = ec.derive_private_key(number_of(jwk, "d"), curve)
        pair = decode_dss_signature(key.sign(octets, ec.ECDSA(algorithm)))
        return b"".join(number.to_bytes(curve.key_size // 8, "big") for number in pair)

    return signature


def rsa_pkcs1(algorithm):
    return lambda octets, jwk: rsa_key(jwk).sign(octets, padding.PKCS1v15(), algorithm)


def rsa_pss(algorithm):
    """The salt is as long as the hash."""
    scheme = padding.PSS(padding.MGF1(algorithm), algorithm.digest_size)
    return lambda octets, jwk: rsa_key(jwk).sign(octets, scheme, algorithm)


def ed25519(octets, jwk):
    return Ed25519PrivateKey.from_private_bytes(octets_of(jwk, "d")).sign(octets)


ALGORITHMS = {
    "EdDSA": ed25519,
    "Ed25519": ed25519,
    "ES256": ecdsa(ec.SECP256R1(), hashes.SHA256()),
    "ES384": ecdsa(ec.SECP384R1(), hashes.SHA384()),
    "RS256": rsa_pkcs1(hashes.SHA256()),
    "PS256": rsa_pss(hashes.SHA256()),
    "PS512": rsa_pss(hashes.SHA512()),
}


def signature_of(octets, jwk):
    return ALGORITHMS[jwk["alg"]](octets, jwk)
