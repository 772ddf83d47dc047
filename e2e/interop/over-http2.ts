import http2 from 'node:http2';
import type {
  ClientHttp2Session,
  ClientHttp2Stream,
  IncomingHttpHeaders,
  OutgoingHttpHeaders,
} from 'node:http2';
import { duplexPair } from 'node:stream';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Field, HttpRequest, HttpResponse, Send } from '../clients/digest/exchange.ts';

export interface OverHttp2 extends AsyncDisposable {
  readonly session: ClientHttp2Session;
  /** Sends a request. Targets are in absolute-form, or host and port for CONNECT. */
  readonly send: Send;
}

/** Opens one HTTP/2 connection (RFC 9113): to `http:` with prior knowledge, to `https:` by ALPN. */
export function overHttp2(proxy: string): OverHttp2 {
  const session = http2.connect(proxy, { rejectUnauthorized: false });
  session.on('error', () => undefined); // each stream reports the failure, too
  return {
    session,
    send: (request) => sendOn(session, request),
    async [Symbol.asyncDispose]() {
      session.destroy();
    },
  };
}

function sendOn(session: ClientHttp2Session, request: HttpRequest): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const connects = request.method === 'CONNECT';
    const endStream = !connects && request.content.length === 0;
    const stream = session.request(headersOf(request), { endStream });
    stream.on('error', reject);
    let trailers: readonly Field[] = [];
    stream.on('trailers', (fields) => {
      trailers = fieldsOf(fields);
    });
    stream.on('response', (headers) => {
      const status = headers[':status'] ?? 0;
      const fields = fieldsOf(headers);
      if (connects && status === 200) {
        const tunnel = octets(stream);
        resolve({ status, fields, content: Buffer.alloc(0), trailers, tunnel });
        return;
      }
      if (connects) stream.end();
      buffer(stream).then((content) => resolve({ status, fields, content, trailers }), reject);
    });
    if (!connects && !endStream) stream.end(request.content);
  });
}

/**
 * A stream that writes octets only. If a string and an empty buffer are written together, Node (still in
 * 26.10) sends freed memory.
 */
function octets(stream: ClientHttp2Stream): Duplex {
  const [near, far] = duplexPair();
  far.pipe(stream).pipe(far);
  stream.once('close', () => near.destroy());
  near.once('close', () => stream.close());
  return near;
}

function headersOf({ method, target, fields }: HttpRequest): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { ':method': method };
  if (method === 'CONNECT') headers[':authority'] = target;
  else {
    const [, scheme = '', authority = '', path = ''] = /^(.+?):\/\/(.+?)(\/.*)$/.exec(target) ?? [];
    Object.assign(headers, { ':scheme': scheme, ':authority': authority, ':path': path });
  }
  for (const [name, value] of fields) headers[name.toLowerCase()] = value;
  return headers;
}

function fieldsOf(headers: IncomingHttpHeaders): readonly Field[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): Field => [name, one]),
  );
}
