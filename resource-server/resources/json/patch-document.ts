import { BadRequest } from '#shared/http/fields.ts';
import { HttpError } from '#shared/http/answer.ts';
import { wholeContent } from '#shared/server/content/content.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import { contentTooLarge } from '../content/content-errors.ts';
import { checkUpload } from '../content/upload.ts';
import { jsonPatch } from './json-patch.ts';
import { MalformedJson, parseJson } from './parse.ts';
import type { Json } from './value.ts';

/** Turns a document (undefined: none) into the patched one. It modifies the document, but not the patch. */
export type Patch = (document: Json | undefined) => Json;
/** Compiles a patch. Throws if the value is not a patch of this format. */
type Format = (patch: Json) => Patch;

/** The patch formats by media type. */
const FORMATS: ReadonlyMap<string, Format> = new Map([
  ['application/json-patch+json', jsonPatch],
  ['application/merge-patch+json', mergePatch],
]);

/** The value of Accept-Patch (RFC 5789 section 3.1). */
export const ACCEPT_PATCH = [...FORMATS.keys()].join(', ');

/** The longest patch, in bytes. */
const MAX_PATCH = 1024 * 1024;

/** A patch as received. It is parsed only when its turn comes, because parsed it takes a hundred times the memory. */
export interface PatchDocument {
  readonly format: Format;
  readonly content: Buffer;
}

/**
 * Receives the patch of a request. Throws as RFC 5789 section 2.2 says: `HttpError` 415 for an unknown format, 413
 * over 1 MiB; `BadRequest` if the content ends early.
 */
export async function receivePatch(request: AnyRequest): Promise<PatchDocument> {
  const type = checkUpload(request, MAX_PATCH);
  // Parameters of the media type are ignored, since neither patch format nor JSON defines any (RFC 8259 section 11).
  const format = FORMATS.get(type.split(';', 1)[0]?.trim().toLowerCase() ?? '');
  if (format === undefined) {
    throw new HttpError(415, `A patch is of one of these types: ${ACCEPT_PATCH}.`, {
      'Accept-Patch': ACCEPT_PATCH,
    });
  }
  return { format, content: await wholeContent(request, MAX_PATCH, tooLong) };
}

/**
 * Parses a patch. Throws as RFC 5789 section 2.2 says: `BadRequest` if it is malformed, `HttpError` 422 if it
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

/** Applies a JSON Merge Patch to a document (RFC 7396 section 2; undefined: no document), which it modifies. */
export function mergePatch(patch: Json): (document: Json | undefined) => Json {
  return (document) => merge(document, patch);
}

function merge(target: Json | undefined, patch: Json): Json {
  if (!(patch instanceof Map)) return patch;
  const merged = target instanceof Map ? target : new Map<string, Json>();
  for (const [name, value] of patch) {
    if (value === null) merged.delete(name);
    else merged.set(name, merge(merged.get(name), value));
  }
  return merged;
}
