import { BadRequest } from '#shared/http/fields.ts';
import { HttpError } from '#shared/http/answer.ts';
import { wholeContent } from '#shared/server/content/content.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import { contentTooLarge } from '../content/content-errors.ts';
import { checkUpload } from '../content/upload.ts';
import { jsonPatch } from './json-patch.ts';
import { mergePatch } from './merge-patch.ts';
import { MalformedJson, parseJson } from './parse.ts';
import type { Json } from './value.ts';

/** What a patch makes of a document, which is used up; undefined: there is none. Stays as it is. */
export type Patch = (document: Json | undefined) => Json;
/** Throws when the value is no patch of this format. */
type Format = (patch: Json) => Patch;

/** By media type. */
const FORMATS: ReadonlyMap<string, Format> = new Map([
  ['application/json-patch+json', jsonPatch],
  ['application/merge-patch+json', mergePatch],
]);

/** Value of Accept-Patch (RFC 5789 section 3.1). */
export const ACCEPT_PATCH = [...FORMATS.keys()].join(', ');

/** Bytes of the longest patch. */
const MAX_PATCH = 1024 * 1024;

/** A patch as it came. It is read when its turn has come: what is read takes a hundred times the room. */
export interface PatchDocument {
  readonly format: Format;
  readonly content: Buffer;
}

/**
 * The patch of a request. Throws as RFC 5789 section 2.2 says: `HttpError` 415 for a format that is not
 * known, 413 over 1 MiB; `BadRequest` when the content ends early.
 */
export async function receivePatch(request: AnyRequest): Promise<PatchDocument> {
  const type = checkUpload(request, MAX_PATCH);
  // Parameters mean nothing: neither format defines any, nor does JSON (RFC 8259 section 11).
  const format = FORMATS.get(type.split(';', 1)[0]?.trim().toLowerCase() ?? '');
  if (format === undefined) {
    throw new HttpError(415, `A patch is of one of these types: ${ACCEPT_PATCH}.`, {
      'Accept-Patch': ACCEPT_PATCH,
    });
  }
  return { format, content: await wholeContent(request, MAX_PATCH, tooLong) };
}

/**
 * Throws as RFC 5789 section 2.2 says: `BadRequest` when the patch is malformed, `HttpError` 422 when it
 * cannot be processed.
 */
export function readPatch({ format, content }: PatchDocument): Patch {
  try {
    return format(parseJson(content));
  } catch (error) {
    if (!(error instanceof MalformedJson)) throw error;
    throw new BadRequest(`The patch is not JSON: ${error.message}.`);
  }
}

const tooLong = () => contentTooLarge(MAX_PATCH);
