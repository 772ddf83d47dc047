import { createHash } from 'node:crypto';
import { ServerResponse, STATUS_CODES } from 'node:http';
import type { ClientRequest, IncomingMessage, InformationEvent } from 'node:http';
import type { Writable } from 'node:stream';
import { PROXY } from '#shared/auth/scheme.ts';
import { lines } from '#shared/http/fields.ts';
import { HttpError } from '#shared/http/answer.ts';
import type { AnyResponse } from '#shared/server/message.ts';
import { answerLines, type Lines, trailerLines } from './fields.ts';
import type { Forwarding } from './forwarding.ts';
import { breakOff, sideOf } from './side.ts';

/** Interim answers that are taken; more of them are a flood. */
const INTERIM = 16;

/**
 * Gives the client the answer of the destination. Throws HttpError 502 for one that must not be passed
 * on: a 407 is for the client of the proxy that it came from (RFC 9110 section 15.5.8), which is us.
 */
export function giveAnswer(forwarding: Forwarding, answer: IncomingMessage): void {
  const { request, response, fields, pseudonym, seal } = forwarding;
  const status = answer.statusCode ?? 0;
  if (status === 407 || status < 200 || status > 599) {
    throw new HttpError(502, 'The destination gave an answer that is not for this client.');
  }
  const codings = lines(answer.rawHeaders, 'transfer-encoding');
  if (codings.length > 0 && codings.join().toLowerCase() !== 'chunked') {
    // Of the others nothing would tell the client (RFC 9112 section 6.1).
    throw new HttpError(
      502,
      'The destination gave an answer in a transfer coding that is unknown here.',
    );
  }
  response.statusCode = status;
  setFields(response, grouped(answerLines(answer, pseudonym)));
  setFields(response, Object.entries(fields));

  const [given] = lines(answer.rawHeaders, 'content-length');
  const length = codings.length === 0 && status !== 204 ? given : undefined;
  const empty = request.method === 'HEAD' || status === 204 || status === 304 || length === '0';
  const old = request.httpVersion === '1.0'; // knows no trailers, and gets no proof of content
  const sealed = empty || old ? undefined : seal;
  if (empty && seal) {
    setFields(response, Object.entries(seal.proof(createHash(seal.hash).digest())));
  }
  if (length !== undefined && sealed === undefined) response.setHeader('Content-Length', length);
  const trailers = !empty && !old && (length === undefined || sealed !== undefined);
  const announced = [...lines(answer.rawHeaders, 'trailer'), ...(sealed ? [PROXY.info] : [])];
  if (trailers && announced.length > 0) response.setHeader('Trailer', announced.join(', '));

  const client: Writable = response;
  const hash = sealed && createHash(sealed.hash);
  if (hash) answer.on('data', (piece: Buffer) => hash.update(piece));
  answer.on('error', () => {}); // `close` follows
  answer.once('end', () => {
    const last = new Map(trailers ? grouped(trailerLines(answer)) : []);
    for (const [name, value] of Object.entries((hash && sealed?.proof(hash.digest())) ?? {})) {
      last.set(name, [value].flat());
    }
    response.addTrailers(Object.fromEntries(last));
    client.end();
  });
  answer.once('close', () => {
    if (!answer.complete) breakOff(sideOf(request));
  });
  answer.pipe(client, { end: false });
  // With the content if that is here already, else before it.
  setImmediate(() => {
    if (response.headersSent || client.destroyed) return;
    if (response instanceof ServerResponse) response.flushHeaders();
    else response.writeHead(response.statusCode);
  });
}

/**
 * Passes interim answers on, such as 103, as they come (RFC 9110 section 15.2). A flood of them, or a
 * malformed one, ends the request with 502.
 */
export function passInterim(
  upstream: ClientRequest,
  { request, response, pseudonym }: Forwarding,
): void {
  let passed = 0;
  upstream.on('information', (interim: InformationEvent) => {
    const { statusCode } = interim;
    passed += 1;
    const own = statusCode === 100 || statusCode === 101; // the first has been asked for by us
    if (passed > INTERIM) {
      upstream.destroy(new HttpError(502, 'The destination gave no end of interim answers.'));
      return;
    }
    if (own || response.headersSent || request.httpVersion === '1.0') return;
    let fields: Lines;
    try {
      fields = answerLines(interim, pseudonym);
    } catch (error) {
      // Thrown from here it would end the process.
      upstream.destroy(error instanceof Error ? error : undefined);
      return;
    }
    if (!(response instanceof ServerResponse)) {
      if (response.stream.closed) return; // of HEAD the response does not say so
      const given = Object.fromEntries(grouped(fields));
      response.stream.additionalHeaders({ ':status': statusCode, ...given });
      return;
    }
    const text = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    const first = `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode] ?? ''}\r\n`;
    response.socket?.write(`${first}${text}\r\n`, 'latin1'); // null while an earlier answer is under way
  });
}

function setFields(
  response: AnyResponse,
  fields: readonly (readonly [string, string | readonly string[]])[],
): void {
  for (const [name, value] of fields) response.setHeader(name, value);
}

/** Fields of which each value has to have a line: not a list, or one that clients do not read as one. */
const APART = /^(?:set-cookie|www-authenticate)$/;

/**
 * The values of each field together, under its name as it came first. They become one line (RFC 9110
 * section 5.3): node:http2 throws for two of a field that may come once.
 */
function grouped(fields: Lines): (readonly [string, string[]])[] {
  const all = new Map<string, readonly [string, string[]]>();
  for (const [name, value] of fields) {
    const known = all.get(name.toLowerCase());
    if (known === undefined) all.set(name.toLowerCase(), [name, [value]]);
    else known[1].push(value);
  }
  return [...all].map(([key, [name, values]]) => [
    name,
    APART.test(key) ? values : [values.join(', ')],
  ]);
}
