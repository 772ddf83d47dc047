import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Random } from '#shared/base/random.ts';
import type { ApiKeyRecord } from '#shared/stores/credentials/api-keys.ts';

/**
 * `cs_`, an id of 64 bits, `_`, a secret of 256 bits, and the CRC-32 of all before it, in lower-case
 * hexadecimal: one spelling for each key, a word to select with a double click, and a form that scanners
 * for leaked secrets can recognise and check without asking us.
 */
const KEY = /^(cs_([0-9a-f]{16})_([0-9a-f]{64}))([0-9a-f]{8})$/;

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}

/** What is kept of a secret; 256 random bits need no slow hash. */
export function apiKeySecretHash(secret: string): string {
  return hash('sha256', secret, 'base64url');
}

/** A new key, to be shown once, and what of it is kept. */
export function newApiKey(
  random: Random,
): Pick<ApiKeyRecord, 'id' | 'secret_hash'> & { readonly key: string } {
  const id = random(8).toString('hex');
  const secret = random(32).toString('hex');
  const text = `cs_${id}_${secret}`;
  return { id, key: `${text}${checksum(text)}`, secret_hash: apiKeySecretHash(secret) };
}

/** Whole, cut off or mistyped: nobody else gives out what begins so. */
const LIKE_KEY = /cs_[0-9a-f]{16}_/i;

/** Whether there is a key of ours in a text, or most of one. */
export const isApiKeyLike = (text: string): boolean => LIKE_KEY.test(text);

/** Undefined: not a key of ours, or mistyped. */
export function parseApiKey(
  text: string,
): { readonly id: string; readonly secret: string } | undefined {
  const [, body = '', id = '', secret = '', check] = KEY.exec(text) ?? [];
  return check === checksum(body) ? { id, secret } : undefined;
}
