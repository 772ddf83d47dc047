import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { OutgoingHttpHeaders } from 'node:http2';
import { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { expect, test } from '@jest/globals';
import { ALONE, messagesOf, onePlayground, statusesOf } from './playground.fixture.ts';

const suite = onePlayground();

/** Records what the sockets of servers in this process receive and send, decrypted, from now on. */
function recordServers() {
  const connections: { port: number | undefined; got: Buffer[]; sent: Buffer[] }[] = [];
  const watch = (message: unknown) => {
    const { socket } = message as { socket: Socket };
    const one = { port: socket.localPort, got: [] as Buffer[], sent: [] as Buffer[] };
    connections.push(one);
    record(socket, one);
  };
  const record = (socket: Socket, one: { got: Buffer[]; sent: Buffer[] }) => {
    const { push, write } = socket;
    socket.push = (chunk: Buffer | null, ...rest: never[]) => {
      if (chunk) one.got.push(Buffer.from(chunk));
      return push.call(socket, chunk, ...rest);
    };
    socket.write = (chunk: string | Uint8Array, ...rest: never[]) => {
      const encoding = typeof rest[0] === 'string' ? rest[0] : 'utf8';
      one.sent.push(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : Buffer.from(chunk));
      return write.call(socket, chunk, ...rest);
    };
  };
  const sockets = channel('net.server.socket');
  sockets.subscribe(watch);
  const { emit } = TlsServer.prototype;
  TlsServer.prototype.emit = function secured(this: TlsServer, event: string, ...rest: never[]) {
    const [socket] = rest as readonly unknown[];
    if (event === 'secureConnection' && socket instanceof Socket) {
      const one = connections.at(-1);
      if (one) {
        one.got.length = 0;
        one.sent.length = 0;
        record(socket, one);
      }
    }
    return emit.call(this, event, ...rest);
  };
  return {
    /** The connections to all other ports, in order. */
    notAt: (own: number) => connections.filter(({ port }) => port !== own),
    [Symbol.dispose]() {
      sockets.unsubscribe(watch);
      TlsServer.prototype.emit = emit;
    },
  };
}

/** Formats octets as a page does, with binary content in hexadecimal. */
function text(chunks: readonly Buffer[]): string {
  const [head = '', content = ''] = splitOnce(Buffer.concat(chunks).toString('latin1'));
  const octets = Buffer.from(content, 'latin1');
  const shown = BINARY.test(head)
    ? octets
        .toString('hex')
        .match(/.{1,64}/g)
        ?.join('\n')
    : octets;
  return `${head}\n\n${String(shown)}`.replaceAll('\r\n', '\n').trimEnd();
}
const BINARY = /^Content-Type: application\/private-token-re/im;
const splitOnce = (message: string) => /^(.*?)\r\n\r\n(.*)$/s.exec(message)?.slice(1) ?? [message];

interface Had {
  readonly got: readonly Buffer[];
  readonly sent: readonly Buffer[];
}

/** Removes from a tunnel's connection the octets that the server behind it received and sent on the next connection. */
function withoutTunnelled(connections: readonly Had[]): readonly Had[] {
  const before = (all: readonly Buffer[], end: readonly Buffer[] = []) => {
    const [whole, rest] = [Buffer.concat(all), Buffer.concat(end)];
    expect(whole.subarray(whole.length - rest.length)).toEqual(rest);
    return [whole.subarray(0, whole.length - rest.length)];
  };
  return connections.map((one, at) => {
    const { got, sent } = one;
    const isTunnel = /^CONNECT .*^HTTP\/1.1 200/ms.test(String(Buffer.concat([...got, ...sent])));
    const next = isTunnel ? connections[at + 1] : undefined;
    return { got: before(got, next?.got), sent: before(sent, next?.sent) };
  });
}

test.each(ALONE.map(({ name }) => name))(
  "the page of %s shows the octets that the server's sockets received and sent",
  async (name) => {
    const { rs } = suite;
    using record = recordServers();
    const page = await rs.perform(name);
    expect(page.status).toBe(200);
    // Via distinguishes the gateway's requests to the application from those of the client (RFC 9110 section 7.6.3).
    const own = record.notAt(rs.listening.port).filter(({ got }) => !/^Via: /m.test(text(got)));
    const seen = withoutTunnelled(own).flatMap(({ got, sent }) => [text(got), text(sent)]);
    expect(messagesOf(page.text)).toEqual(seen);
    expect(seen.length).toBeGreaterThan(1);
    expect([200, 204]).toContain(statusesOf(page.text).at(-1));
  },
);

test.each(ALONE.flatMap(({ name, overTls }) => (overTls ? name : [])))(
  "over HTTP/2 the page of %s shows the fields of the server's streams",
  async (name) => {
    const { rs } = suite;
    const had: string[] = [];
    const watch = (message: unknown) =>
      had.push(linesOf((message as { headers: OutgoingHttpHeaders }).headers));
    // The channels report a request of the client or a promised request, and an answer.
    const channels = ['http2.server.stream.start', 'http2.server.stream.finish'];
    for (const one of channels) subscribe(one, watch);
    const { text: page } = await rs.perform(name, 'version=2');
    for (const one of channels) unsubscribe(one, watch);
    const shown = messagesOf(page).map((message) =>
      (message.split('\n\n')[0] ?? '').split('\n').toSorted().join('\n'),
    );
    expect(had.length).toBeGreaterThan(1);
    expect(shown.toSorted()).toEqual(had.toSorted());
  },
);

const linesOf = (headers: OutgoingHttpHeaders): string =>
  Object.entries(headers)
    .flatMap(([name, values = []]) => [values].flat().map((value) => `${name}: ${value}`))
    .toSorted()
    .join('\n');
