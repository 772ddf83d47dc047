/** A client that also reports incomplete answers. */
import http from 'node:http';
import type { IncomingMessage } from 'node:http';
import http2 from 'node:http2';
import type { Readable } from 'node:stream';
import type { Field } from '../../clients/digest/exchange.ts';

export interface Asked {
  readonly method?: string;
  readonly fields?: readonly Field[];
  /** A stream is sent in pieces, as they come. */
  readonly content?: string | Buffer | Readable;
  readonly trailers?: readonly Field[];
}

export interface Answer {
  /** 0 without an answer. */
  readonly status: number;
  /** Names in lower case. */
  readonly fields: readonly Field[];
  readonly content: Buffer;
  /** Whether the answer reached its announced end. */
  readonly complete: boolean;
  readonly trailers: readonly Field[];
  /** Statuses and fields of interim answers. */
  readonly interim: readonly (readonly [status: number, fields: readonly Field[]])[];
}

export interface Client extends AsyncDisposable {
  ask(path: string, asked?: Asked): Promise<Answer>;
}

export const VERSIONS = ['HTTP/1.1', 'HTTP/2'] as const;
export type Version = (typeof VERSIONS)[number];

/** Opens kept connections to an origin: over HTTP/1.1 one per parallel request, over HTTP/2 one. */
export function connectTo(origin: string, version: Version): Client {
  return version === 'HTTP/2' ? overOneSession(origin) : overKeptConnections(origin);
}

export const valueOf = ({ fields }: Pick<Answer, 'fields'>, name: string) =>
  fields.find(([one]) => one === name)?.[1];

export const valuesOf = ({ fields }: Pick<Answer, 'fields'>, name: string) =>
  fields.flatMap(([one, value]) => (one === name ? [value] : []));

function overKeptConnections(origin: string): Client {
  const agent = new http.Agent({ keepAlive: true });
  const ask = (path: string, { method = 'GET', ...asked }: Asked = {}) =>
    new Promise<Answer>((resolve) => {
      const { hostname, port } = new URL(origin);
      const { fields = [], content = '', trailers = [] } = asked;
      const given = new Collected();
      const sent = http.request({ agent, hostname, port, method, path, insecureHTTPParser: false });
      for (const [name, value] of fields) sent.appendHeader(name, value);
      const framed = fields.some(([name]) => /^(?:content-length|expect)$/i.test(name));
      if (typeof content === 'string' && content !== '' && !framed && trailers.length === 0) {
        sent.setHeader('Content-Length', Buffer.byteLength(content));
      }
      sent.on('information', (one) => {
        given.interim.push([one.statusCode, pairs(one.rawHeaders)]);
      });
      // After an answer the server may close the request early.
      sent.on('error', () => given.status === 0 && resolve(given));
      sent.on('response', (message: IncomingMessage) => {
        given.status = message.statusCode ?? 0;
        given.fields = pairs(message.rawHeaders);
        message.on('data', (piece: Buffer) => given.pieces.push(piece));
        message.on('error', () => {});
        message.on('close', () => {
          given.complete = message.complete;
          given.trailers = pairs(message.rawTrailers);
          resolve(given);
        });
      });
      if (trailers.length > 0)
        sent.addTrailers(trailers.map(([name, value]): [string, string] => [name, value]));
      const begin = () => {
        if (typeof content === 'string' || Buffer.isBuffer(content)) sent.end(content);
        else content.pipe(sent);
      };
      if (fields.some(([name]) => name.toLowerCase() === 'expect')) {
        sent.once('continue', begin);
        sent.flushHeaders();
      } else begin();
    });
  return {
    ask,
    async [Symbol.asyncDispose]() {
      agent.destroy();
    },
  };
}

function overOneSession(origin: string): Client {
  const open = () => http2.connect(origin, { rejectUnauthorized: false }).on('error', () => {});
  let session = open();
  const ask = (path: string, { method = 'GET', ...asked }: Asked = {}) =>
    new Promise<Answer>((resolve) => {
      const { fields = [], content = '', trailers = [] } = asked;
      const given = new Collected();
      const endStream = content === '' && trailers.length === 0;
      let begun = false;
      if (session.closed || session.destroyed) session = open();
      const stream = session.request(
        { ':method': method, ':path': path, ...grouped(fields) },
        { endStream, waitForTrailers: trailers.length > 0 },
      );
      stream.on('headers', (headers) => {
        given.interim.push([headers[':status'] ?? 0, flat(headers)]);
      });
      stream.on('response', (headers) => {
        given.status = headers[':status'] ?? 0;
        given.fields = flat(headers);
        if (!begun) stream.end(); // for a request without content
      });
      stream.on('trailers', (headers) => {
        given.trailers = flat(headers);
      });
      stream.on('wantTrailers', () => stream.sendTrailers(grouped(trailers)));
      stream.on('data', (piece: Buffer) => given.pieces.push(piece));
      stream.on('end', () => {
        given.complete = given.status !== 0 && stream.rstCode === 0 && !stream.aborted;
      });
      stream.on('error', () => {
        given.complete = false;
      });
      stream.on('close', () => {
        if (stream.rstCode !== http2.constants.NGHTTP2_NO_ERROR) given.complete = false;
        resolve(given);
      });
      const begin = () => {
        begun = true;
        if (endStream) return;
        if (typeof content === 'string' || Buffer.isBuffer(content)) stream.end(content);
        else content.pipe(stream);
      };
      if (fields.some(([name]) => name.toLowerCase() === 'expect')) stream.once('continue', begin);
      else begin();
    });
  return {
    ask,
    async [Symbol.asyncDispose]() {
      session.destroy();
    },
  };
}

class Collected implements Answer {
  status = 0;
  fields: readonly Field[] = [];
  readonly pieces: Buffer[] = [];
  complete = false;
  trailers: readonly Field[] = [];
  readonly interim: (readonly [number, readonly Field[]])[] = [];

  get content(): Buffer {
    return Buffer.concat(this.pieces);
  }
}

function pairs(raw: readonly string[]): readonly Field[] {
  return raw.flatMap((name, at) =>
    at % 2 === 0 ? [[name.toLowerCase(), raw[at + 1] ?? ''] as const] : [],
  );
}

function flat(headers: http2.IncomingHttpHeaders): readonly Field[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    name.startsWith(':') ? [] : [value ?? []].flat().map((one): Field => [name, one]),
  );
}

function grouped(fields: readonly Field[]): http2.OutgoingHttpHeaders {
  const all: Record<string, string[]> = {};
  for (const [name, value] of fields) (all[name.toLowerCase()] ??= []).push(value);
  return Object.fromEntries(
    Object.entries(all).map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
  );
}
