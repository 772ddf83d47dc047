import { BadRequest, single } from '#shared/http/fields.ts';
import { randomId } from '#shared/random.ts';
import { HttpError } from '#shared/server/answer.ts';
import type { AnyRequest } from '#shared/server/message.ts';
import type { Document } from '#shared/stores/trees.ts';
import { contentTooLarge } from './content.ts';
import { isMediaType, UNKNOWN } from './media-type.ts';
import type { Services } from './place.ts';
import type { Received } from './resource-store.ts';

/**
 * Checks what the fields say of the content before any of it is read, and returns its media type.
 * Throws 400 for a Content-Range (RFC 9110 section 14.5) or a malformed Content-Type, 413 for a
 * Content-Length over `maxBytes`, 415 for a content coding. `otherwise`: the type of what comes without one.
 */
export function checkUpload(
  { rawHeaders: raw }: AnyRequest,
  maxBytes: number,
  otherwise = UNKNOWN,
): string {
  if (single(raw, 'content-range') !== undefined) {
    throw new BadRequest('A part of a document cannot be put: leave Content-Range out.');
  }
  if (single(raw, 'content-encoding') !== undefined) {
    throw new HttpError(415, 'Send the content without a content coding.', {
      'Accept-Encoding': 'identity',
    });
  }
  if (Number(single(raw, 'content-length') ?? 0) > maxBytes) throw contentTooLarge(maxBytes);
  const type = single(raw, 'content-type') ?? otherwise;
  if (!isMediaType(type)) throw new BadRequest('Content-Type is not a media type.');
  return type;
}

/** A document of content that was received just now. */
export function newDocument(
  named: Pick<Document, 'path' | 'type'>,
  received: Received,
  { clock, random }: Pick<Services, 'clock' | 'random'>,
): Document {
  const now = clock.now();
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
