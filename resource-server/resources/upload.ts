import type { IncomingMessage } from 'node:http';
import { BadRequest, single } from '#shared/http/fields.ts';
import { randomId } from '#shared/random.ts';
import type { Change, DocumentRow } from '#shared/stores/documents.ts';
import { HttpError } from '#shared/server/answer.ts';
import { contentOf } from '#shared/server/content.ts';
import { ContentTooLarge } from './content.ts';
import { isMediaType } from './media-type.ts';
import type { Shelf } from './shelf.ts';

/**
 * Checks what the fields say of the content before any of it is read, and returns its media type.
 * Throws 400 for a Content-Range (RFC 9110 section 14.5) or a malformed Content-Type, 413 for a
 * Content-Length over `maxBytes`, 415 for a content coding.
 */
export function checkUpload(request: IncomingMessage, maxBytes: number): string {
  const raw = request.rawHeaders;
  if (single(raw, 'content-range') !== undefined) {
    throw new BadRequest('A part of a document cannot be put: leave Content-Range out.');
  }
  if (single(raw, 'content-encoding') !== undefined) {
    throw new HttpError(415, 'Send the content without a content coding.', {
      'Accept-Encoding': 'identity',
    });
  }
  if (Number(single(raw, 'content-length') ?? 0) > maxBytes) throw contentTooLarge(maxBytes);
  const type = single(raw, 'content-type') ?? 'application/octet-stream';
  if (!isMediaType(type)) throw new BadRequest('Content-Type is not a media type.');
  return type;
}

/** Receives the content and commits a new row for it; 413 once it turns out to be too long. */
export async function receive(
  { content, clock, random, maxBytes }: Shelf,
  request: IncomingMessage,
  { path, type }: Pick<DocumentRow, 'path' | 'type'>,
  commit: (row: DocumentRow) => Promise<Change>,
): Promise<{ readonly row: DocumentRow; readonly done: Change }> {
  try {
    return await content.add(contentOf(request), async ({ file, length }) => {
      const modified = clock.now();
      const row = { path, type, file, length, modified, etag: randomId(random) };
      const done = await commit(row);
      return { kept: done.kind === 'changed', value: { row, done } };
    });
  } catch (error) {
    throw error instanceof ContentTooLarge ? contentTooLarge(maxBytes) : error;
  }
}

function contentTooLarge(maxBytes: number): HttpError {
  return new HttpError(413, `A document has at most ${maxBytes} bytes.`);
}
