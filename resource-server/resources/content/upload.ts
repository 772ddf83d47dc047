import type { Clock } from '#shared/base/clock.ts';
import type { Random } from '#shared/base/random.ts';
import { BadRequest, single } from '#shared/http/fields.ts';
import { randomId } from '#shared/base/random.ts';
import { HttpError } from '#shared/http/answer.ts';
import { intactContent } from '#shared/server/content/content.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import type { Document, Usage } from '#shared/stores/trees/trees.ts';
import { contentTooLarge, quotaExceeded } from './content-errors.ts';
import { isMediaType, UNKNOWN } from '../../answers/media-type.ts';
import type { Received } from './resource-store.ts';

/**
 * Fields by which a client sends a part of a document, with their values for a whole document. They are Content-Range
 * (RFC 9110 section 14.5), those of draft-ietf-httpbis-resumable-upload in its versions, and that of tus. A client that
 * offers to resume, but sends the whole document, is served normally.
 */
const OF_PARTS: readonly (readonly [name: string, whole?: string])[] = [
  ['content-range'],
  ['upload-complete', '?1'],
  ['upload-incomplete', '?0'],
  ['upload-offset', '0'],
  ['tus-resumable'],
];

/**
 * Checks the header fields about the content before reading it, and returns its media type. Throws 400 for a part of a
 * document or a malformed Content-Type, 413 for a Content-Length over `maxBytes`, 415 for a content coding.
 * `otherwise`: the type if the request names none.
 */
export function checkUpload(request: AnyRequest, maxBytes: number, otherwise = UNKNOWN): string {
  const { rawHeaders: raw, headers } = request;
  for (const [name, whole] of OF_PARTS) {
    if ((headers[name] ?? whole) === whole) continue;
    throw new BadRequest(
      `Send the whole document in one request. The server does not join parts, as by ${name}.`,
    );
  }
  if (single(raw, 'content-encoding') !== undefined) {
    throw new HttpError(415, 'Send the content without a content coding.', {
      'Accept-Encoding': 'identity',
    });
  }
  if (announced(request) > maxBytes) throw contentTooLarge(maxBytes);
  const type = single(raw, 'content-type') ?? otherwise;
  if (!isMediaType(type)) throw new BadRequest('Content-Type is not a media type.');
  return type;
}

/**
 * Reads the content of a request while the quota has room for it. `usage` is the present use, and `replaced` the bytes
 * that the write frees.
 * So a server does not receive content that the quota would refuse. Throws `HttpError` 507 (RFC 4331 section 6) at once
 * if Content-Length is too large, otherwise when the content gets too long. Throws `BadRequest` if the content does not
 * match an integrity field (RFC 9530).
 */
export function contentWithin(
  request: AnyRequest,
  quota: Pick<Usage, 'bytes'>,
  usage: Pick<Usage, 'bytes'>,
  replaced = 0,
): AsyncIterable<Buffer> {
  const room = Math.max(quota.bytes - usage.bytes, 0) + replaced;
  if (announced(request) > room) throw quotaExceeded();
  return upTo(room, intactContent(request));
}

async function* upTo(room: number, content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let left = room;
  for await (const piece of content) {
    left -= piece.length;
    if (left < 0) throw quotaExceeded();
    yield piece;
  }
}

/** Returns the value of Content-Length in bytes. */
export function announced({ rawHeaders }: AnyRequest): number {
  return Number(single(rawHeaders, 'content-length') ?? 0);
}

/** Makes the document for content that was just received. */
export function newDocument(
  named: Pick<Document, 'path' | 'type'>,
  received: Received,
  { treeClock, random }: { readonly treeClock: Pick<Clock, 'now'>; readonly random: Random },
): Document {
  const now = treeClock.now();
  return {
    ...named,
    ...received,
    kind: 'document',
    revision: randomId(random),
    etag: randomId(random),
    created: now,
    modified: now,
    properties: {},
  };
}
