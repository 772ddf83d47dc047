import { posix } from 'node:path';
import { lookup } from 'mime-types';

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const QUOTED = String.raw`"(?:[\t \x21\x23-\x5b\x5d-\x7e]|\\[\t \x21-\x7e])*"`;
const MEDIA_TYPE = new RegExp(
  `^${TOKEN}/${TOKEN}(?:[ \\t]*;(?:[ \\t]*${TOKEN}=(?:${TOKEN}|${QUOTED}))?)*[ \\t]*$`,
);

/** media-type (RFC 9110 section 8.3.1) of at most 255 ASCII characters. */
export function isMediaType(value: string): boolean {
  return value.length <= 255 && MEDIA_TYPE.test(value);
}

/** JSON, or a format that is JSON too (RFC 6839 section 3.1). */
export function isJson(type: string): boolean {
  return /^(?:application\/json|[^;]+\+json)[ \t]*(?:;|$)/i.test(type);
}

/** What nobody says anything of (RFC 9110 section 8.3). */
export const UNKNOWN = 'application/octet-stream';

/** What the name of a document suggests: clients of WebDAV often send no type. */
export function typeOfName(path: string): string {
  return lookup(posix.extname(path)) || UNKNOWN;
}
