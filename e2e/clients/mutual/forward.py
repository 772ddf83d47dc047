"""What a forward proxy does with a request that it has let in: absolute-form, or CONNECT."""
import http.client
import select
import socket
from urllib.parse import urlsplit

# Between a client and its proxy alone, and what http.client writes itself.
HOP = {'connection', 'keep-alive', 'proxy-authorization', 'transfer-encoding', 'content-length', 'host'}


def forward(handler, proof):
    if handler.command == 'CONNECT':
        return tunnel(handler, proof)
    url = urlsplit(handler.path)
    connection = http.client.HTTPConnection(url.hostname, url.port)
    sent = {name: value for name, value in handler.headers.items() if name.lower() not in HOP}
    connection.request(handler.command, url.path or '/', headers=sent)
    response = connection.getresponse()
    content = response.read()
    handler.send_response(response.status)
    for name, value in (*response.headers.items(), *proof.items()):
        if name.lower() not in HOP:
            handler.send_header(name, value)
    handler.send_header('Content-Length', str(len(content)))
    handler.end_headers()
    handler.wfile.write(content)
    connection.close()


def tunnel(handler, proof):
    host, _, port = handler.path.rpartition(':')
    with socket.create_connection((host, int(port))) as other:
        handler.send_response(200)
        for name, value in proof.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.flush()
        passes = {handler.connection: other, other: handler.connection}
        while True:
            for ready in select.select(list(passes), [], [])[0]:
                octets = ready.recv(65536)
                if not octets:
                    handler.close_connection = True
                    return
                passes[ready].sendall(octets)
