import { BadRequest } from '#shared/http/fields.ts';

/**
 * Returns the credentials of a client that supports Basic (RFC 7617 section 2): base64 of `NAME:PASSWORD` in UTF-8.
 * Throws `BadRequest` for a name with a colon and for control characters, which Basic cannot carry.
 */
export function basicCredentials(name: string, password: string): string {
  if (name.includes(':')) throw new BadRequest('Basic carries no name with a colon.');
  if (/\p{Cc}/u.test(name + password)) throw new BadRequest('Basic carries no control character.');
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
}
