import { hash } from 'node:crypto';

/** Models whose identifier alone lets its holder use them. */
const BEARER = new Set(['AuthorizationCode', 'DeviceCode', 'RefreshToken']);

/**
 * Under what identifier the store keeps an artefact. Codes and refresh tokens have 256 random bits and
 * are kept by their SHA-256, as clients' secrets are: who reads the store cannot use them.
 */
export function storedId(kind: string, id: string): string {
  return BEARER.has(kind) ? hash('sha256', id, 'base64url') : id;
}
