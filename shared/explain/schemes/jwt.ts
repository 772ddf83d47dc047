import { isUtf8 } from 'node:buffer';
import { isObject, type JsonObject } from '#shared/jose/compact-jws.ts';
import { moment } from '#shared/base/moment.ts';
import type { Part, Surroundings } from '../explained.ts';
import { jsonDepth } from '../json-depth.ts';
import { CLAIM_NOTES, HEADER_NOTES, TIMES } from '../notes/jwt.ts';
import type { Notes } from '../note.ts';
import { notedPart } from '../noted-part.ts';

/** Most levels of JSON that are read. */
const DEEPEST = 16;

/** The unverified parts of a JWT. A part is undefined if it is no JSON object in base64url. */
export interface ReadJwt {
  readonly header: JsonObject | undefined;
  readonly payload: JsonObject | undefined;
}

/** Matches a JWT in its compact form (RFC 7519 section 3), also one without a signature. */
export const JWT = /^[\w-]+\.[\w-]*\.[\w-]*$/;

/** Divides a JWT into its parts, whatever its algorithm. */
export function readJwt(text: string): ReadJwt {
  const [header, payload] = text.split('.', 2).map(objectIn);
  return { header, payload };
}

function objectIn(part: string): JsonObject | undefined {
  const bytes = Buffer.from(part, 'base64url');
  const text = isUtf8(bytes) ? bytes.toString() : '';
  if (jsonDepth(text) > DEEPEST) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the members of the header and the claims, with notes and times in words. */
export function partsOfJwt({ header, payload }: ReadJwt, { clock }: Surroundings): readonly Part[] {
  const partsOf = (object: JsonObject | undefined, notes: Notes, before: string) =>
    Object.entries(object ?? {}).map(([name, value]) =>
      notedPart(name, TIMES.has(name) ? moment(value, clock) : textOf(value), notes, before),
    );
  return [...partsOf(header, HEADER_NOTES, 'header.'), ...partsOf(payload, CLAIM_NOTES, '')];
}

/** Returns a member of JSON as text. An object may have a member toString, so `String` could throw. */
export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
