import { BadRequest } from '#shared/http/fields.ts';
import { unprocessable } from '#shared/http/answer.ts';
import { MAX_DEPTH } from './parse.ts';
import type { Json } from './value.ts';

/** The unescaped reference tokens of a JSON Pointer (RFC 6901). An empty list means the whole document. */
export type Pointer = readonly string[];

/**
 * Parses a JSON Pointer (RFC 6901 sections 3 and 4). Throws `BadRequest`, or `HttpError` 422 if it is deeper than
 * any value can be.
 */
export function parsePointer(text: string): Pointer {
  if ((text !== '' && !text.startsWith('/')) || /~(?![01])/.test(text)) {
    throw new BadRequest('A path of the patch is no JSON Pointer (RFC 6901).');
  }
  const tokens = text.split('/', MAX_DEPTH + 2).slice(1);
  if (tokens.length > MAX_DEPTH) throw unprocessable(`A path has over ${MAX_DEPTH} tokens.`);
  return tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Returns what a token refers to in a value (RFC 6901 section 4), or undefined. */
export function child(value: Json | undefined, token: string): Json | undefined {
  if (value instanceof Map) return value.get(token);
  return Array.isArray(value) ? value[arrayIndex(token)] : undefined;
}

/** Parses a token as an array index. Returns -1 if it is not one; `-` is not one either. */
export function arrayIndex(token: string): number {
  return /^(?:0|[1-9][0-9]*)$/.test(token) ? Number(token) : -1;
}
