import { hash } from 'node:crypto';

/** The kinds of artefacts that anybody who has the identifier can use. */
const BEARER = new Set(['AuthorizationCode', 'DeviceCode', 'RefreshToken']);

/**
 * Returns the identifier under which the store has an artefact. Codes and refresh tokens have 256 random bits and are
 * stored by their SHA-256, like clients' secrets, so a reader of the store cannot use them.
 */
export function storedId(kind: string, id: string): string {
  return BEARER.has(kind) ? hash('sha256', id, 'base64url') : id;
}
