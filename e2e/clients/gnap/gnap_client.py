"""A GNAP client instance that proves its key with HTTP message signatures, from the text of RFC 9635 alone.

It follows sections 4.2.3, 6.1.1, 7.2, 7.3.1 and 7.3.1.1. It reads one JSON object on standard input, and writes one
on standard output. {"public": jwk} gives the public JWK. {"hash": {client_nonce, server_nonce, interact_ref,
grant_endpoint, method}} gives {"hash"}, where `method` is sha-256 unless given. Any other object is a request to send,
and gives {status, headers, body}, with `json` when the body is JSON. Its members are:

url, method     Redirects are not followed.
jwk             The private key that signs, with kid and alg.
proof           "httpsig" (the default), or an object whose content-digest-alg is used.
json            Is sent as application/json.
content         Is text to send instead, of the type content_type. An empty text has a digest too.
token           Is sent in Authorization with the scheme GNAP.
created, nonce, tag
                Are parameters of the signature: now, a random one and "gnap", unless given. null leaves one out.
label           Names the signature; "sig1" unless given.
omit            Lists names of components that the signature does not cover.
unsigned        true sends neither a signature nor a digest.
rotate_from     The previous private key, which signs first. The signature of `jwk` then covers that signature. Its tag
                is "gnap-rotate" unless given.
previous        Has created, nonce, tag, label and omit for the signature of rotate_from. Its label is "old-" and the
                other one unless given.
insecure        true leaves certificates unverified.
"""

import base64
import hashlib
import http.client
import json
import secrets
import ssl
import sys
import time
from urllib.parse import urlsplit

from http_signatures import Message, bytes_text, public_jwk, sign

# Content-Digest (RFC 9530) and the registry of named information hashes have these names.
HASHES = {
    "sha-256": "sha256",
    "sha-384": "sha384",
    "sha-512": "sha512",
    "sha3-256": "sha3_256",
    "sha3-384": "sha3_384",
    "sha3-512": "sha3_512",
}
# Section 7.3.1 wants the first two. Its example covers the others too.
COVERED_FIELDS = ("content-digest", "authorization", "content-length", "content-type")
SECONDS = 30


def digest(name, octets):
    return hashlib.new(HASHES[name], octets).digest()


def interaction_hash(client_nonce, server_nonce, interact_ref, grant_endpoint, method="sha-256"):
    """Section 4.2.3."""
    base = "\n".join((client_nonce, server_nonce, interact_ref, grant_endpoint)).encode("ascii")
    return base64.urlsafe_b64encode(digest(method, base)).rstrip(b"=").decode()


def content_of(asked):
    """The content, or None, and the fields that describe it."""
    if "json" in asked:
        content, types = json.dumps(asked["json"], ensure_ascii=False).encode(), {"content-type": "application/json"}
    elif "content" in asked:
        content = asked["content"].encode()
        types = {"content-type": asked["content_type"]} if "content_type" in asked else {}
    else:
        return None, {}
    return content, types | {"content-length": str(len(content))}


def content_digest(content, proof):
    """The string form of `proof` means sha-256."""
    name = "sha-256" if isinstance(proof, str) else proof["content-digest-alg"]
    return f"{name}={bytes_text(digest(name, content))}"


def sign_with(message, jwk, label, added, tag, options):
    """Covers what section 7.3.1 wants, and what is added."""
    names = ["@method", "@target-uri", *(name for name in COVERED_FIELDS if name in message.fields)]
    components = [*((name, None) for name in names), *added]
    covered = [one for one in components if one[0] not in options.get("omit", [])]
    parameters = {
        "created": options.get("created", int(time.time())),
        "keyid": jwk["kid"],
        "nonce": options.get("nonce", secrets.token_urlsafe()),
        "tag": options.get("tag", tag),
    }
    sign(message, label, covered, parameters, jwk)


def prove(message, asked):
    """Signs the message, and with two keys when one is to replace the other (section 7.3.1.1)."""
    label = asked.get("label", "sig1")
    if "rotate_from" not in asked:
        sign_with(message, asked["jwk"], label, [], "gnap", asked)
        return
    options = asked.get("previous", {})
    previous = options.get("label", f"old-{label}")
    sign_with(message, asked["rotate_from"], previous, [], "gnap", options)
    added = [("signature", previous), ("signature-input", previous)]
    sign_with(message, asked["jwk"], label, added, "gnap-rotate", asked)


def connection_to(url, insecure):
    if url.scheme == "http":
        return http.client.HTTPConnection(url.hostname, url.port, timeout=SECONDS)
    context = ssl.create_default_context()
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return http.client.HTTPSConnection(url.hostname, url.port, timeout=SECONDS, context=context)


def exchange(asked):
    """Sends the request once, and gives the response."""
    url = urlsplit(asked["url"])
    target = (url.path or "/") + (f"?{url.query}" if url.query else "")
    content, fields = content_of(asked)
    fields["host"] = url.netloc
    if "token" in asked:
        fields["authorization"] = f"GNAP {asked['token']}"
    if not asked.get("unsigned", False):
        if content is not None:
            fields["content-digest"] = content_digest(content, asked.get("proof", "httpsig"))
        message = Message(asked["method"], f"{url.scheme}://{url.netloc}{target}", fields)
        prove(message, asked)
        fields |= message.signature_fields()
    connection = connection_to(url, asked.get("insecure", False))
    connection.request(asked["method"], target, content, fields)
    return report(connection.getresponse())


def report(response):
    body = response.read().decode("utf-8", "replace")
    answer = {"status": response.status, "headers": response.getheaders(), "body": body}
    try:
        return answer | {"json": json.loads(body)}
    except ValueError:
        return answer


def answer_to(asked):
    if "public" in asked:
        return public_jwk(asked["public"])
    if "hash" in asked:
        return {"hash": interaction_hash(**asked["hash"])}
    return exchange(asked)


if __name__ == "__main__":
    json.dump(answer_to(json.load(sys.stdin.buffer)), sys.stdout)
