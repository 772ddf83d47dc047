import { posix } from 'node:path';
import { lookup } from 'mime-types';

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const QUOTED = String.raw`"(?:[\t \x21\x23-\x5b\x5d-\x7e]|\\[\t \x21-\x7e])*"`;
const MEDIA_TYPE = new RegExp(
  `^${TOKEN}/${TOKEN}(?:[ \\t]*;(?:[ \\t]*${TOKEN}=(?:${TOKEN}|${QUOTED}))?)*[ \\t]*$`,
);

/** True for a media-type (RFC 9110 section 8.3.1) of at most 255 ASCII characters. */
export function isMediaType(value: string): boolean {
  return value.length <= 255 && MEDIA_TYPE.test(value);
}

/** True for JSON and for formats based on it (RFC 6839 section 3.1). */
export function isJson(type: string): boolean {
  return /^(?:application\/json|[^;]+\+json)[ \t]*(?:;|$)/i.test(type);
}

/** The type of content whose type is unknown (RFC 9110 section 8.3). */
export const UNKNOWN = 'application/octet-stream';

/** Returns the type that a document's name suggests, since WebDAV clients often send none. */
export function typeOfName(path: string): string {
  return lookup(posix.extname(path)) || UNKNOWN;
}
