import { createHash, type Hash } from 'node:crypto';
import { ServerResponse, STATUS_CODES, validateHeaderName, validateHeaderValue } from 'node:http';
import type { Writable } from 'node:stream';
import type { Seal } from '#shared/auth/scheme.ts';
import { type Fields, HttpError } from '#shared/http/answer.ts';
import { atTurnsEnd } from '#shared/base/turn.ts';
import { lines } from '#shared/http/fields.ts';
import {
  type AnyRequest,
  type AnyResponse,
  endWith,
  holdFields,
} from '#shared/server/message/message.ts';
import { note } from '#shared/server/message/request-log.ts';
import { answerLines, grouped, type Head, type Lines, trailerLines } from './fields.ts';
import { mergeFields } from '../answers/merge-fields.ts';
import { breakOff, exchangeOf, sideOf } from '../answers/side.ts';
import { type AnswerHead, BROKEN_OFF, type Sink } from './sink.ts';

/** The most interim answers that are accepted. More of them are a flood. */
const INTERIM = 16;

/** A reason phrase (RFC 9112 section 4) that is passed on if its status has no registered phrase. */
const REASON = /^[\t -~]{1,100}$/;

/** The recipient of an answer, and additions to the answer. */
export interface Recipient {
  readonly request: AnyRequest;
  readonly response: AnyResponse;
  /** The gateway's own fields for the final answer. */
  readonly fields: Fields;
  /** Adds a proof of the content in a field or trailer of the name `info`. */
  readonly seal?: Seal<Fields> | undefined;
  readonly info: string;
  readonly pseudonym: string;
  /** Changes the lines of a final answer. Default: no change. */
  readonly back?: (given: Lines, status: number) => Lines;
}

/** The answer of another server on its way to the client. */
export class PassingAnswer implements Sink {
  readonly exchange: Writable;
  readonly #recipient: Recipient;
  readonly #client: Writable;
  #interim = 0;
  #rawHeaders: readonly string[] = [];
  #trailers = false;
  /** Whether pieces are collected until the end of the turn. */
  #gathering = false;
  /** Whether the length is known, and nothing follows the content. */
  #framed = false;
  /** The first piece of content while it may be the whole content, which is sent together with the head. */
  #first: Buffer | undefined;
  #whole = false;
  #sealed: { readonly seal: Seal<Fields>; readonly hash: Hash } | undefined;

  constructor(recipient: Recipient) {
    this.#recipient = recipient;
    this.exchange = exchangeOf(recipient.response);
    this.#client = recipient.response;
  }

  /** Whether the received answer cannot be passed on. */
  refused = false;

  declines: Sink['declines'] = () => false;

  /** Whether a client still waits for the answer. */
  get wanted(): boolean {
    return !this.exchange.destroyed;
  }

  /** An interim answer, such as 103 (RFC 9110 section 15.2). Throws HttpError 502 for too many. */
  interim(head: AnswerHead): void {
    const { request, response, pseudonym } = this.#recipient;
    this.#interim += 1;
    if (this.#interim > INTERIM) {
      throw new HttpError(502, 'The destination gave no end of interim answers.');
    }
    const own = head.status === 100 || head.status === 101; // the gateway itself has requested these
    if (own || response.headersSent || request.httpVersion === '1.0') return;
    const fields = answerLines(head, pseudonym);
    if (!(response instanceof ServerResponse)) {
      if (response.stream.closed) return; // for HEAD the response does not report that the stream is closed
      const given = Object.fromEntries(grouped(fields));
      response.stream.additionalHeaders({ ':status': head.status, ...given });
      return;
    }
    const text = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    const first = `HTTP/1.1 ${head.status} ${STATUS_CODES[head.status] ?? ''}\r\n`;
    response.socket?.write(`${first}${text}\r\n`, 'latin1'); // null while an earlier answer on the connection is being sent
  }

  begin(head: AnswerHead): void {
    const { request, response, fields, seal, info, pseudonym, back } = this.#recipient;
    const { status, reason = '', rawHeaders } = head;
    this.refused = true;
    checkPassable(head);
    this.refused = false;
    this.#rawHeaders = rawHeaders;
    const codings = lines(rawHeaders, 'transfer-encoding');
    const given = answerLines(head, pseudonym);
    response.statusCode = status;
    if (response instanceof ServerResponse && !(status in STATUS_CODES) && REASON.test(reason)) {
      response.statusMessage = reason;
    }
    const theirs = Object.fromEntries(grouped(back ? back(given, status) : given));
    const all: Record<string, string | readonly string[]> = { ...mergeFields(theirs, fields) };
    const [announced] = lines(rawHeaders, 'content-length');
    const length = codings.length === 0 && status !== 204 ? announced : undefined;
    const empty = request.method === 'HEAD' || status === 204 || status === 304 || length === '0';
    const old = request.httpVersion === '1.0'; // HTTP/1.0 has no trailers, so it gets no proof of content
    const sealed = empty || old ? undefined : seal;
    if (empty && seal) Object.assign(all, seal.proof(createHash(seal.hash).digest()));
    if (length !== undefined && sealed === undefined) all['Content-Length'] = length;
    this.#sealed = sealed && { seal: sealed, hash: createHash(sealed.hash) };
    // Over HTTP/1.1 nothing follows content with a known length (RFC 9112 section 6.3).
    this.#framed = response instanceof ServerResponse && length !== undefined && !sealed;
    this.#trailers = !empty && !old && !this.#framed;
    const named = [...lines(rawHeaders, 'trailer'), ...(sealed ? [info] : [])];
    if (this.#trailers && named.length > 0) all['Trailer'] = named.join(', ');
    for (const name in all) checkField(name, all[name] ?? []);
    holdFields(response, all);
    this.#gather();
  }

  /** Returns the fields for the client when the connection switches its protocol. */
  switched({ rawHeaders, httpVersion }: Head): Record<string, string | readonly string[]> {
    const { fields, seal, pseudonym, back } = this.#recipient;
    const given = answerLines({ rawHeaders, httpVersion }, pseudonym);
    const named = grouped(back ? back(given, 101) : given).map(([name, value]) => [
      name.toLowerCase(),
      value,
    ]);
    const proof = seal?.proof(createHash(seal.hash).digest());
    return { ...Object.fromEntries(named), ...fields, ...proof };
  }

  /** False: the caller waits for `drained` before the next piece. */
  write(piece: Buffer): boolean {
    this.#sealed?.hash.update(piece);
    const { headersSent } = this.#recipient.response;
    if (this.#gathering && this.#framed && !headersSent && this.#first === undefined) {
      this.#first = piece;
      return true;
    }
    this.#writeFirst();
    return this.#client.write(piece);
  }

  #writeFirst(): void {
    if (this.#first !== undefined) this.#client.write(this.#first);
    this.#first = undefined;
  }

  /** Calls back when more can be written. */
  drained(resume: () => void): void {
    this.#client.once('drain', resume);
  }

  /** Ends the answer, with its trailers. */
  end(rawTrailers: readonly string[]): void {
    const { response } = this.#recipient;
    const given = { rawHeaders: [...this.#rawHeaders], rawTrailers: [...rawTrailers] };
    const last = new Map(
      this.#trailers && rawTrailers.length > 0 ? grouped(trailerLines(given)) : [],
    );
    const { seal, hash } = this.#sealed ?? {};
    for (const [name, value] of Object.entries((hash && seal?.proof(hash.digest())) ?? {})) {
      last.set(name, [value].flat());
    }
    if (last.size > 0) response.addTrailers(Object.fromEntries(last));
    this.#whole = true;
    if (!this.#gathering) this.#client.end();
  }

  breakOff(): void {
    const { request } = this.#recipient;
    if (this.wanted) note(request, { reason: BROKEN_OFF });
    breakOff(sideOf(request));
  }

  /**
   * Collects content that arrives in the same turn as the head, and sends both at the end of the turn. Otherwise each
   * short answer would wake its client between two reads (turn.ts). Longer content is passed on as it arrives:
   * collecting it would fill the memory and miss the CPU caches.
   */
  #gather(): void {
    this.#gathering = true;
    const { response } = this.#recipient;
    const socket = response instanceof ServerResponse ? response.socket : null;
    socket?.cork();
    atTurnsEnd(() => {
      this.#gathering = false;
      if (!this.exchange.closed) this.#sendOn(response);
      socket?.uncork();
    });
  }

  #sendOn(response: AnyResponse): void {
    if (this.#whole && this.#first !== undefined) return endWith(this.#client, this.#first);
    this.#writeFirst();
    if (this.#whole) this.#client.end();
    else if (response.headersSent) return;
    else if (response instanceof ServerResponse) response.flushHeaders();
    else response.writeHead(response.statusCode);
  }
}

/**
 * Throws HttpError 502 for an answer that must not be passed on. A 407 is for the client of the proxy that sent it (RFC
 * 9110 section 15.5.8), which is this server. The client could not learn of a transfer coding other than chunked (RFC
 * 9112 section 6.1).
 */
export function checkPassable({ status, rawHeaders }: AnswerHead): void {
  if (status === 407 || status < 200 || status > 599) {
    throw new HttpError(502, 'The destination gave an answer that is not for this client.');
  }
  const codings = lines(rawHeaders, 'transfer-encoding');
  if (codings.length > 0 && codings.join().toLowerCase() !== 'chunked') {
    throw new HttpError(
      502,
      'The destination gave an answer in a transfer coding that is unknown here.',
    );
  }
}

/** Throws for a malformed field before it is stored, since an error at writing would go unnoticed. */
function checkField(name: string, value: string | readonly string[]): void {
  validateHeaderName(name);
  if (typeof value === 'string') return validateHeaderValue(name, value);
  for (const line of value) validateHeaderValue(name, line);
}
