"""Signature bases of RFC 9421, from its text alone and with the standard library, to compare ours with.

Reads a JSON list of cases on standard input and writes the list of their bases, null where the RFC wants an error.
"""

import base64
import json
import re
import sys
from urllib.parse import quote, unquote_to_bytes, urlsplit


class Refused(Exception):
    """The RFC wants an error here."""


# RFC 8941 section 4.2: parsing a Dictionary.


class Parser:
    def __init__(self, text):
        self.text = text
        self.at = 0

    def peek(self):
        return self.text[self.at] if self.at < len(self.text) else ""

    def take(self):
        character = self.peek()
        self.at += 1
        return character

    def skip(self, characters):
        while self.peek() and self.peek() in characters:
            self.at += 1

    def dictionary(self):
        members = {}
        self.skip(" ")
        while self.peek():
            key = self.key()
            if self.peek() == "=":
                self.take()
                value = self.inner_list() if self.peek() == "(" else self.item()
            else:
                value = (True, self.parameters())
            members[key] = value
            self.skip(" \t")
            if not self.peek():
                return members
            if self.take() != ",":
                raise Refused("no comma")
            self.skip(" \t")
            if not self.peek():
                raise Refused("a comma at the end")
        return members

    def inner_list(self):
        self.take()
        items = []
        while True:
            self.skip(" ")
            if self.peek() == ")":
                self.take()
                return (items, self.parameters())
            if not self.peek():
                raise Refused("an open list")
            items.append(self.item())
            if self.peek() not in (" ", ")"):
                raise Refused("no space in a list")

    def item(self):
        return (self.bare_item(), self.parameters())

    def parameters(self):
        found = {}
        while self.peek() == ";":
            self.take()
            self.skip(" ")
            key = self.key()
            value = True
            if self.peek() == "=":
                self.take()
                value = self.bare_item()
            found[key] = value
        return found

    def key(self):
        match = re.compile(r"[a-z*][a-z0-9_\-.*]*").match(self.text, self.at)
        if not match:
            raise Refused("no key")
        self.at = match.end()
        return match.group()

    def bare_item(self):
        for pattern, read in BARE_ITEMS:
            match = pattern.match(self.text, self.at)
            if match:
                self.at = match.end()
                return read(match.group())
        raise Refused("no item")


class Token(str):
    pass


class Decimal(float):
    pass


BARE_ITEMS = [
    (re.compile(r"-?[0-9]{1,12}\.[0-9]{1,3}"), Decimal),
    (re.compile(r"-?[0-9]{1,15}"), int),
    (re.compile(r'"(?:[ !#-\[\]-~]|\\["\\])*"'), lambda text: re.sub(r"\\(.)", r"\1", text[1:-1])),
    (re.compile(r"[A-Za-z*][!#$%&'*+.^_`|~0-9A-Za-z:/-]*"), Token),
    (re.compile(r":[A-Za-z0-9+/=]*:"), lambda text: base64.b64decode(text[1:-1] + "==")),
    (re.compile(r"\?[01]"), lambda text: text == "?1"),
]


# RFC 8941 section 4.1: serializing.


def bare_text(value):
    if value is True or value is False:
        return "?1" if value else "?0"
    if isinstance(value, Decimal):
        text = f"{value:.3f}".rstrip("0")
        return text + "0" if text.endswith(".") else text
    if isinstance(value, int):
        return str(value)
    if isinstance(value, bytes):
        return ":" + base64.b64encode(value).decode() + ":"
    if isinstance(value, Token):
        return str(value)
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def parameters_text(parameters):
    return "".join(
        ";" + key + ("" if value is True else "=" + bare_text(value))
        for key, value in parameters.items()
    )


def member_text(member):
    value, parameters = member
    if isinstance(value, list):
        return "(" + " ".join(map(member_text, value)) + ")" + parameters_text(parameters)
    return bare_text(value) + parameters_text(parameters)


def dictionary_text(members):
    return ", ".join(
        key + (parameters_text(member[1]) if member[0] is True else "=" + member_text(member))
        for key, member in members.items()
    )


# RFC 9421 section 2: components.

DICTIONARIES = {"content-digest", "priority", "signature", "signature-input"}
DERIVED = {
    "@method": lambda request, uri: request["method"],
    "@target-uri": lambda request, uri: request["targetUri"],
    "@authority": lambda request, uri: authority(uri),
    "@scheme": lambda request, uri: uri.scheme.lower(),
    "@request-target": lambda request, uri: request["requestTarget"],
    "@path": lambda request, uri: uri.path or "/",
    "@query": lambda request, uri: "?" + uri.query,
}


def authority(uri):
    default = {"http": 80, "https": 443}.get(uri.scheme.lower())
    port = "" if uri.port in (None, default) else f":{uri.port}"
    return uri.hostname.lower() + port


def form_encoded(octets):
    """Percent-encode after encoding, with the set of application/x-www-form-urlencoded."""
    text = octets.decode("utf-8", "replace")
    return quote(text, safe="*-._").replace("~", "%7E")


def query_parameter(name, uri):
    pairs = []
    for piece in uri.query.split("&"):
        if piece:
            key, _, value = piece.partition("=")
            pairs.append([form_encoded(unquote_to_bytes(part.replace("+", " "))) for part in (key, value)])
    values = [value for key, value in pairs if key == name]
    if len(values) != 1:
        raise Refused("not exactly once")
    return values[0]


def derived_value(name, parameters, request):
    uri = urlsplit(request["targetUri"])
    if name == "@query-param":
        if set(parameters) != {"name"} or not is_string(parameters["name"]):
            raise Refused("parameters")
        return query_parameter(parameters["name"], uri)
    if parameters or name not in DERIVED:
        raise Refused("derived")
    return DERIVED[name](request, uri)


def is_string(value):
    return isinstance(value, str) and not isinstance(value, Token)


def field_value(name, parameters, request):
    for key, value in parameters.items():
        if key == "key" and not is_string(value) or key != "key" and value is not True:
            raise Refused("a parameter's value")
    if set(parameters) - {"sf", "bs", "key", "tr"} or name != name.lower():
        raise Refused("parameters")
    lines = [value.strip(" \t") for key, value in request["fields"] if key.lower() == name]
    if "tr" in parameters or not lines:
        raise Refused("no such field")
    if "bs" in parameters:
        if "sf" in parameters or "key" in parameters:
            raise Refused("bs and sf")
        return ", ".join(bare_text(line.encode("latin-1")) for line in lines)
    combined = ", ".join(lines)
    if "sf" not in parameters and "key" not in parameters:
        return combined
    if name not in DICTIONARIES:
        raise Refused("unknown type")
    members = Parser(combined).dictionary()
    if "key" not in parameters:
        return dictionary_text(members)
    if parameters["key"] not in members:
        raise Refused("no such member")
    return member_text(members[parameters["key"]])


def signature_base(case):
    (components, parameters) = Parser("sig=" + case["input"]).dictionary()["sig"]
    request = case["request"]
    lines = []
    seen = []
    for name, own in components:
        identity = (name, sorted(own.items(), key=lambda pair: pair[0]))
        if identity in seen or "req" in own:
            raise Refused("twice, or req in a request")
        seen.append(identity)
        value = (derived_value if name.startswith("@") else field_value)(name, own, request)
        if not re.fullmatch(r"[\t -~]*", value):
            raise Refused("not ASCII")
        lines.append(member_text((name, own)) + ": " + value)
    lines.append('"@signature-params": ' + member_text((components, parameters)))
    return "\n".join(lines)


def outcome(case):
    try:
        return signature_base(case)
    except Refused:
        return None


json.dump([outcome(case) for case in json.load(sys.stdin)], sys.stdout)
