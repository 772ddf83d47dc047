import { isObject } from '#shared/jose/compact-jws.ts';
import { jsonDepth } from './json-depth.ts';
import type { Pasted } from './pasted.ts';
import { JWT, readJwt } from './schemes/jwt.ts';

/** Levels of the deepest JSON that is read: an answer of GNAP has its token in an object, or in a list of them. */
const DEEPEST = 16;

/** Returns the JWTs among the members of a form or of JSON, such as the answer with a token (RFC 6749 section 5.1). */
export function tokensIn(content: string): readonly Pasted[] {
  const values = content.startsWith('{')
    ? valuesOf(content)
    : new URLSearchParams(content).values();
  return [...values]
    .filter((value) => JWT.test(value) && readJwt(value).header !== undefined)
    .map((value) => ({ name: 'jwt', value }));
}

function valuesOf(json: string): readonly string[] {
  if (jsonDepth(json) > DEEPEST) return [];
  try {
    const object: unknown = JSON.parse(json);
    return isObject(object) ? Object.values(object).flatMap(textsOf) : [];
  } catch {
    return [];
  }
}

/** The text of a member, or the `value` of each token of GNAP (RFC 9635 section 3.2). */
function textsOf(member: unknown): readonly string[] {
  return [member].flat().flatMap((one: unknown) => {
    const text = isObject(one) ? one['value'] : one;
    return typeof text === 'string' ? text : [];
  });
}
