import { hash } from 'node:crypto';

/** Models whose identifier alone lets its holder use them. */
const BEARER = new Set(['AuthorizationCode', 'DeviceCode', 'RefreshToken']);

/** Characters of a refresh token that begins with the one that its store places it by (`Artefacts.beginningAfter`). */
const PLACED = 44;

/**
 * Under what identifier the store keeps an artefact. Codes and refresh tokens have 256 random bits and
 * are kept by their SHA-256, as clients' secrets are: who reads the store cannot use them. A character that comes before
 * these bits stays before the hash.
 */
export function storedId(kind: string, id: string): string {
  if (!BEARER.has(kind)) return id;
  const beginning = id.length === PLACED ? id.charAt(0) : '';
  return beginning + hash('sha256', id, 'base64url');
}
