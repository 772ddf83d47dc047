import { createHash } from 'node:crypto';
import { Http2ServerRequest } from 'node:http2';
import { BadRequest } from '#shared/http/fields.ts';
import { HttpError } from '#shared/http/answer.ts';
import type { AnyRequest } from '../message/message.ts';
import { intact } from './integrity.ts';
import { addressOf, Budget, Spool } from './spool.ts';
import { upgradeOf } from '../tunnels/upgrade.ts';

/** The most octets of content that can be stored for a second reading. */
const LIMIT = 64 * 1024 * 1024;
/** The most octets of stored content in the whole process. */
const BUDGET = new Budget(256 * 1024 * 1024);

const spools = new WeakMap<AnyRequest, Promise<Spool>>();
/** The short content of requests. */
const held = new WeakMap<AnyRequest, Buffer>();
/** How many octets of content were read from the connection. */
const read = new WeakMap<AnyRequest, number>();

/** How content is stored for a second reading. */
export interface Keeping {
  /**
   * The address whose limit the content uses up, as `clientAddress` gives it; default: the other end of the
   * connection.
   */
  readonly address?: string;
  /** Bytes. */
  readonly limit?: number;
  readonly budget?: Budget;
}

/**
 * Computes the digest of the whole content by a hash of `node:crypto`; may be called several times. The content is
 * received once, and stored for `contentOf` until the request is answered. Rejects with `HttpError` 413 if the
 * content is longer than `limit` octets; announced content is refused before it is read. Rejects with 503 if too much
 * content is being received, and with `BadRequest` if the client disconnects before the end.
 */
export async function contentDigest(
  request: AnyRequest,
  hash: string,
  keeping: Keeping = {},
): Promise<Buffer> {
  const spooling = spools.get(request) ?? spool(request, keeping);
  spools.set(request, spooling);
  const spooled = await spooling;
  const digest = createHash(hash);
  for await (const chunk of spooled.read()) digest.update(chunk);
  return digest.digest();
}

/**
 * Returns the content for the handler of the request. It comes from the connection, unless it was stored, for example
 * for its digest. Throws `BadRequest` if the client disconnects before the end.
 */
export function contentOf(request: AnyRequest): AsyncIterable<Buffer> {
  const whole = held.get(request);
  if (whole !== undefined) return once(whole);
  const spooling = spools.get(request);
  return spooling === undefined ? received(request) : again(spooling);
}

/**
 * Returns the content for a handler that stores it or acts on it. Throws the errors of `contentOf`, and at the end
 * `BadRequest` if the content does not match an integrity field of the request.
 */
export const intactContent = (request: AnyRequest): AsyncIterable<Buffer> =>
  intact(request, contentOf(request));

/** Returns how many octets of the content the functions of this file have read so far. */
export const bytesRead = (request: AnyRequest): number => read.get(request) ?? 0;

/**
 * True if the server waits for more content from the client, having read all that arrived. Call it only for requests
 * whose content a handler reads, since node:http2 marks no other request as complete.
 */
export function owesContent(request: AnyRequest): boolean {
  const stream = request instanceof Http2ServerRequest ? request.stream : request;
  return !request.complete && stream.readableLength + request.readableLength === 0;
}

/** Does the same as `wholeContent`, but `contentOf` can read the content again. */
export async function heldContent(
  request: AnyRequest,
  limit: number,
  tooLong: () => HttpError,
): Promise<Buffer> {
  const whole = await wholeContent(request, limit, tooLong);
  held.set(request, whole);
  return whole;
}

async function* once(whole: Buffer): AsyncGenerator<Buffer> {
  yield whole;
}

/**
 * Reads a short content completely. Throws `tooLong` if it has more than `limit` octets; announced content is refused
 * before it is read. Throws `BadRequest` if the client disconnects before the end, or if the content does not match
 * an integrity field of the request.
 */
export async function wholeContent(
  request: AnyRequest,
  limit: number,
  tooLong: () => HttpError,
): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLong();
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of intactContent(request)) {
    length += chunk.length;
    if (length > limit) throw tooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function* again(spooling: Promise<Spool>): AsyncGenerator<Buffer> {
  const spooled = await spooling;
  yield* spooled.read();
}

async function spool(
  request: AnyRequest,
  { address = addressOf(request), limit = LIMIT, budget = BUDGET }: Keeping,
): Promise<Spool> {
  const tooLong = () => new HttpError(413, `The content has more than ${limit} bytes.`);
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLong();
  const spooled = new Spool(request, budget, address);
  let length = 0;
  try {
    for await (const chunk of received(request)) {
      length += chunk.length;
      if (length > limit) throw tooLong();
      await spooled.add(chunk);
    }
    return spooled;
  } catch (error) {
    spooled.close();
    throw error;
  }
}

/**
 * Yields the content as it arrives. If the reader stops early, the remaining content is discarded, so that the
 * connection can carry the answer and the next request.
 */
async function* received(request: AnyRequest): AsyncGenerator<Buffer> {
  if (upgradeOf(request)) return; // the octets that follow belong to the tunnel
  try {
    for await (const piece of request.iterator({ destroyOnReturn: false })) {
      read.set(request, bytesRead(request) + (piece as Buffer).length);
      yield piece as Buffer;
    }
  } catch {
    throw endedEarly();
  } finally {
    request.resume();
  }
  // Over HTTP/2 a stream that was reset before it is read looks as if its content were complete.
  if (request instanceof Http2ServerRequest && request.stream.closed) throw endedEarly();
}

const endedEarly = () => new BadRequest('The content ended early.');
