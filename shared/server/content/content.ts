import { createHash } from 'node:crypto';
import { Http2ServerRequest } from 'node:http2';
import { BadRequest } from '#shared/http/fields.ts';
import { HttpError } from '#shared/http/answer.ts';
import type { AnyRequest } from '../message/message.ts';
import { intact } from './integrity.ts';
import { addressOf, Budget, Spool } from './spool.ts';
import { upgradeOf } from '../tunnels/upgrade.ts';

/** Bytes of the longest content that is kept to be read twice. */
const LIMIT = 64 * 1024 * 1024;
/** Bytes of all such content at a time. */
const BUDGET = new Budget(256 * 1024 * 1024);

const spools = new WeakMap<AnyRequest, Promise<Spool>>();
/** The short content of requests. */
const held = new WeakMap<AnyRequest, Buffer>();
/** Bytes of content that were read from the connection. */
const read = new WeakMap<AnyRequest, number>();

/** How content is kept. */
export interface Keeping {
  /** For whom it counts, as `clientAddress` gives it; absent: the other end of the connection. */
  readonly address?: string;
  /** Bytes. */
  readonly limit?: number;
  readonly budget?: Budget;
}

/**
 * Digest of the whole content by a hash of `node:crypto`, as often as is asked. The content is received
 * once and kept until the request is answered, for `contentOf`. Rejects with `HttpError` 413 when it is
 * longer than `limit` bytes, before any is read if its length is announced, 503 when too much is being
 * received at a time, and with `BadRequest` when the client leaves before its end.
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
 * The content, for who handles the request; straight from the connection unless its digest was asked
 * for, or it is held. Throws `BadRequest` when the client leaves before it is read.
 */
export function contentOf(request: AnyRequest): AsyncIterable<Buffer> {
  const whole = held.get(request);
  if (whole !== undefined) return once(whole);
  const spooling = spools.get(request);
  return spooling === undefined ? received(request) : again(spooling);
}

/**
 * The content for a handler that keeps it or acts on it. Beside what `contentOf` throws, it ends with a `BadRequest`
 * if the content is not what an integrity field of the request says.
 */
export const intactContent = (request: AnyRequest): AsyncIterable<Buffer> =>
  intact(request, contentOf(request));

/** How many bytes of the content came so far, by whichever of these functions it is read. */
export const bytesRead = (request: AnyRequest): number => read.get(request) ?? 0;

/**
 * Whether more of the content has to come, and we wait for it: nothing is here that was not read yet. For requests whose
 * content somebody reads: of others node:http2 never says that they are complete.
 */
export function owesContent(request: AnyRequest): boolean {
  const stream = request instanceof Http2ServerRequest ? request.stream : request;
  return !request.complete && stream.readableLength + request.readableLength === 0;
}

/** As `wholeContent`, and it can be read again by `contentOf`. */
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
 * The whole of short content. Throws `tooLong` once it has more than `limit` bytes, before any is read if
 * its length is announced, and `BadRequest` when the client leaves before its end or the content is not what an
 * integrity field of the request says.
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
 * The content as it comes in. When its reader stops early, the rest is thrown away, so that the
 * connection can carry the answer and the next request.
 */
async function* received(request: AnyRequest): AsyncGenerator<Buffer> {
  if (upgradeOf(request)) return; // the octets are no content, but for the tunnel that opens
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
  // Over HTTP/2 a stream that is over before it is read ends like one whose content is whole.
  if (request instanceof Http2ServerRequest && request.stream.closed) throw endedEarly();
}

const endedEarly = () => new BadRequest('The content ended early.');
