import { createCipheriv, createDecipheriv } from 'node:crypto';
import { derivedKey } from '#shared/base/derived-key.ts';
import type { Random } from '#shared/base/random.ts';

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

const keyFor = (master: Buffer, purpose: string) =>
  derivedKey(master, `countersign seal ${purpose}`);

/** Encrypts `plain` under the master secret (AES-256-GCM); only the same `purpose` opens it again. */
export function seal(master: Buffer, purpose: string, plain: string, random: Random): string {
  const iv = random(IV_BYTES);
  const cipher = createCipheriv(CIPHER, keyFor(master, purpose), iv);
  const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url');
}

/** Decrypts a text. Throws if it was sealed under another master secret or purpose, or was changed. */
export function unseal(master: Buffer, purpose: string, sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64url');
  // The last character may have unused bits, and foreign characters are skipped, so the spelling is compared.
  if (bytes.toString('base64url') !== sealed) throw new Error('the text is no base64url of ours');
  const iv = bytes.subarray(0, IV_BYTES);
  const tag = bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES);
  const decipher = createDecipheriv(CIPHER, keyFor(master, purpose), iv, {
    authTagLength: TAG_BYTES,
  });
  decipher.setAuthTag(tag);
  const text = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES));
  return Buffer.concat([text, decipher.final()]).toString('utf8');
}
