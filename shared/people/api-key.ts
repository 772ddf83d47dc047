import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Random } from '#shared/base/random.ts';
import type { ApiKeyRecord } from '#shared/stores/credentials/api-keys.ts';

/**
 * Matches a key: `cs_`, an id of 64 bits, `_`, a secret of 256 bits, and the CRC-32 of all these, in lower-case
 * hexadecimal. Each key has one spelling, and a double click selects it. Scanners for leaked secrets can recognize
 * and check it without a request to this server.
 */
const KEY = /^(cs_([0-9a-f]{16})_([0-9a-f]{64}))([0-9a-f]{8})$/;

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}

/** Returns the hash of a secret that is stored; 256 random bits need no slow hash. */
export function apiKeySecretHash(secret: string): string {
  return hash('sha256', secret, 'base64url');
}

/** Creates a key, to be shown once, and the part of it that is stored. */
export function newApiKey(
  random: Random,
): Pick<ApiKeyRecord, 'id' | 'secret_hash'> & { readonly key: string } {
  const id = random(8).toString('hex');
  const secret = random(32).toString('hex');
  const text = `cs_${id}_${secret}`;
  return { id, key: `${text}${checksum(text)}`, secret_hash: apiKeySecretHash(secret) };
}

/** Matches a key that is whole, truncated or mistyped, by the prefix of this product's keys. */
const LIKE_KEY = /cs_[0-9a-f]{16}_/i;

/** True if a text contains a key of this product, or most of one. */
export const isApiKeyLike = (text: string): boolean => LIKE_KEY.test(text);

/** Parses a key. Returns undefined if it is not a key of this product, or mistyped. */
export function parseApiKey(
  text: string,
): { readonly id: string; readonly secret: string } | undefined {
  const [, body = '', id = '', secret = '', check] = KEY.exec(text) ?? [];
  return check === checksum(body) ? { id, secret } : undefined;
}
