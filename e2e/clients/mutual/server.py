"""A small server for trying the client: an origin, or with --proxy a forward proxy, on loopback.

Writes one line of JSON with its port and serves until its standard input ends.
"""
import argparse
import json
import ssl
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import exchange
import forward
import preparation
from algorithms import ALGORITHMS
from end_point import end_point
from login import ORIGIN, PROXY
from place import Place
from verifier import Verifier


class Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        server = self.server
        text = self.headers.get(server.role.credentials)
        with server.lock:
            server.requests += 1
            if server.requests in server.forgotten:
                server.verifier.table.sessions.clear()
            user, field = server.verifier.answer(text, server.vh)
        if user is None:
            return self.send(server.role.status, {server.role.challenge: field}, b'Who is it?')
        if server.forged:
            field = forged(field)
        proof = {server.role.info: field}
        if server.role is PROXY:
            return forward.forward(self, proof)
        self.send(200, proof, user.encode())

    do_CONNECT = do_GET

    def send(self, status, fields, content):
        self.send_response(status)
        for name, value in fields.items():
            # A character of text may be several octets of UTF-8; http.server writes Latin-1.
            self.send_header(name, value.encode().decode('latin-1'))
        self.send_header('Content-Length', str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


def forged(info):
    """The same with another proof: its first digit differs."""
    before, separator, proof = info.partition('vks=')
    at = 1 if proof.startswith('"') else 0
    other = '1' if proof[at] == '0' else '0'
    return before + separator + proof[:at] + other + proof[at + 1 :]


def asked():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--algorithm', choices=ALGORITHMS, required=True)
    parser.add_argument('--realm', default='tests')
    parser.add_argument('--auth-scope', default='127.0.0.1')
    parser.add_argument('--user', required=True)
    parser.add_argument('--password-file', required=True)
    parser.add_argument('--nc-max', type=int, default=10_000)
    parser.add_argument('--tls-certificate', help='PEM, with --tls-key')
    parser.add_argument('--tls-key')
    parser.add_argument('--proxy', action='store_true')
    parser.add_argument('--forged-proof', action='store_true', help='VK_s is wrong')
    parser.add_argument('--forget-before', type=int, action='append', default=[], help='the number of a request')
    return parser.parse_args()


def main():
    wanted = asked()
    server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    server.daemon_threads = True
    place = Place('https' if wanted.tls_certificate else 'http', '127.0.0.1', server.server_port)
    if wanted.tls_certificate:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(wanted.tls_certificate, wanted.tls_key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        pem = Path(wanted.tls_certificate).read_text()
        server.vh = end_point(ssl.PEM_cert_to_DER_cert(pem))
    else:
        server.vh = place.vh
    algorithm = ALGORITHMS[wanted.algorithm]
    user = preparation.username(wanted.user)
    password = preparation.password(Path(wanted.password_file).read_text().removesuffix('\n'))
    salt = exchange.salt(algorithm, wanted.auth_scope, wanted.realm, user)
    J = exchange.J(algorithm, exchange.pi(algorithm, password, salt))
    realm = {
        'algorithm': algorithm.token,
        'validation': place.validation,
        'auth-scope': wanted.auth_scope,
        'realm': wanted.realm,
    }
    server.verifier = Verifier(algorithm, realm, {user: J}, wanted.nc_max)
    server.role = PROXY if wanted.proxy else ORIGIN
    server.forged, server.forgotten, server.requests = wanted.forged_proof, wanted.forget_before, 0
    server.lock = threading.Lock()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({'port': server.server_port}), flush=True)
    sys.stdin.read()


if __name__ == '__main__':
    main()
