import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A request as read by a strict origin server (RFC 9112). */
export interface RawRequest {
  readonly method: string;
  readonly target: string;
  /** Field lines, with names as received. */
  readonly lines: readonly (readonly [name: string, value: string])[];
  /** The number of the request's connection. */
  readonly connection: number;
  readonly socket: Socket;
  /**
   * Resolves once the whole content has arrived. Without a call no content is read. One character is one
   * octet.
   */
  content(): Promise<string>;
  /** The octets of the content that have been read. */
  readonly read: string;
  readonly trailers: readonly (readonly [name: string, value: string])[];
}

export type Serve = (request: RawRequest) => unknown;

export interface RawUpstream extends AsyncDisposable {
  readonly url: string;
  /** The requests since the last call, in order. */
  take(): readonly RawRequest[];
  /** Octets that were no request: ambiguous heads, and octets after a request. */
  readonly unreadable: readonly string[];
  /** The number of connections so far. */
  connections(): number;
}

type Lines = (readonly [name: string, value: string])[];

class Unreadable extends Error {}
class Over extends Error {}

const REQUEST = /^([!#$%&'*+.^_`|~\w-]+) ([!-~]+) HTTP\/1\.1$/;
const FIELD =
  /^([!#$%&'*+.^_`|~\w-]+):[\t ]*((?:[!-~\x80-\xFF](?:[\t -~\x80-\xFF]*[!-~\x80-\xFF])?)?)[\t ]*$/;

/** Listens on a free port. Content that `serve` does not read is discarded afterwards. */
export async function startRawUpstream(serve: Serve): Promise<RawUpstream> {
  const taken: RawRequest[] = [];
  const unreadable: string[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;

  async function talk(socket: Socket): Promise<void> {
    const connection = (connections += 1);
    const octets = new Octets(socket);
    for (;;) {
      const request = readRequest(await octets.through('\r\n\r\n'), octets, socket, connection);
      taken.push(request);
      await serve(request);
      await request.content();
    }
  }

  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
    talk(socket).catch((error: unknown) => {
      if (error instanceof Over) socket.end();
      else {
        unreadable.push(error instanceof Unreadable ? error.message : String(error));
        socket.destroy();
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    take: () => taken.splice(0),
    unreadable,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function readRequest(head: string, octets: Octets, socket: Socket, connection: number): RawRequest {
  const [first = '', ...rest] = head.slice(0, -4).split('\r\n');
  const [, method, target] = REQUEST.exec(first) ?? [];
  if (method === undefined || target === undefined) throw new Unreadable(head);
  const lines = readLines(rest, head);
  const of = (wanted: string) =>
    lines.flatMap(([name, value]) => (name.toLowerCase() === wanted ? [value] : []));
  const [codings, lengths] = [of('transfer-encoding'), of('content-length')];
  const framings = [...codings, ...lengths];
  const known = codings.every((coding) => coding === 'chunked');
  if (of('host').length !== 1 || framings.length > 1 || !known) throw new Unreadable(head);
  const [length = '0'] = lengths;
  if (!/^\d{1,15}$/.test(length)) throw new Unreadable(head);

  let content: Promise<string> | undefined;
  const request = {
    method,
    target,
    lines,
    connection,
    socket,
    read: '',
    trailers: [] as Lines,
    content: () => (content ??= codings.length > 0 ? chunked() : plain()),
  };
  async function plain(): Promise<string> {
    await octets.exactly(Number(length), (piece) => (request.read += piece));
    return request.read;
  }
  async function chunked(): Promise<string> {
    for (;;) {
      const size = (await octets.through('\r\n')).slice(0, -2);
      if (!/^[\dA-Fa-f]{1,8}$/.test(size)) throw new Unreadable(`${head}chunk ${size}`);
      if (Number.parseInt(size, 16) === 0) break;
      await octets.exactly(Number.parseInt(size, 16), (piece) => (request.read += piece));
      if ((await octets.through('\r\n')) !== '\r\n') throw new Unreadable(`${head}chunk`);
    }
    for (;;) {
      const line = await octets.through('\r\n');
      if (line === '\r\n') return request.read;
      request.trailers.push(...readLines([line.slice(0, -2)], head));
    }
  }
  return request;
}

function readLines(lines: readonly string[], head: string): Lines {
  return lines.map((line) => {
    const [, name, value] = FIELD.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new Unreadable(head);
    return [name, value] as const;
  });
}

/** The octets of a connection, read on demand: unread octets stay with the sender. */
class Octets {
  readonly #pieces: AsyncIterator<Buffer>;
  #held = '';

  constructor(socket: Socket) {
    this.#pieces = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  async through(mark: string): Promise<string> {
    for (;;) {
      const at = this.#held.indexOf(mark);
      if (at !== -1) return this.#give(at + mark.length);
      await this.#more();
    }
  }

  async exactly(count: number, each: (piece: string) => unknown): Promise<void> {
    for (let left = count; left > 0;) {
      if (this.#held === '') await this.#more();
      const piece = this.#give(Math.min(left, this.#held.length));
      left -= piece.length;
      each(piece);
    }
  }

  #give(length: number): string {
    const given = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    return given;
  }

  async #more(): Promise<void> {
    const next = await this.#pieces.next().catch(() => undefined);
    if (next === undefined || next.done === true) {
      throw this.#held === '' ? new Over() : new Unreadable(`cut off: ${this.#held}`);
    }
    this.#held += next.value.toString('latin1');
  }
}
