import { createDecipheriv, createECDH, type ECDH, hkdfSync } from 'node:crypto';
import type { Random } from '#shared/base/random.ts';

/** The side that messages are encrypted for (RFC 8291 section 2). */
export interface Receiver {
  /** Its key pair on P-256. */
  readonly ecdh: ECDH;
  /** Its authentication secret (section 3.2). */
  readonly auth: Buffer;
}

/** Octets of the header of a message (RFC 8188 section 2.1): salt, record size, length of the sender's key, that key. */
const [SALT, RECORD_SIZE, KEY_LENGTH, KEY] = [16, 4, 1, 65];
const KEY_AT = SALT + RECORD_SIZE + KEY_LENGTH;
const RECORD_AT = KEY_AT + KEY;
/** Octets of the authentication tag of AES-GCM. */
const TAG = 16;
/** Ends the content of the last record; the zeros behind it are padding (section 2). */
const LAST = 2;

export function createReceiver(random: Random): Receiver {
  const ecdh = createECDH('prime256v1');
  ecdh.generateKeys();
  return { ecdh, auth: random(16) };
}

/**
 * Returns the content of a message in the content coding `aes128gcm`, which has one record (RFC 8291 section 4).
 * Undefined if it was encrypted for somebody else, was changed, or is no such message.
 */
export function decrypt(message: Buffer, { ecdh, auth }: Receiver): Buffer | undefined {
  const record = message.subarray(RECORD_AT);
  if (message[KEY_AT - KEY_LENGTH] !== KEY || record.length <= TAG) return undefined;
  if (record.length > message.readUInt32BE(SALT)) return undefined;
  const salt = message.subarray(0, SALT);
  const sender = message.subarray(KEY_AT, RECORD_AT);
  try {
    const info = Buffer.concat([Buffer.from('WebPush: info\0'), ecdh.getPublicKey(), sender]);
    const shared = hkdfSync('sha256', ecdh.computeSecret(sender), auth, info, 32);
    const derive = (name: string, length: number) =>
      Buffer.from(
        hkdfSync('sha256', new Uint8Array(shared), salt, `Content-Encoding: ${name}\0`, length),
      );
    const decipher = createDecipheriv('aes-128-gcm', derive('aes128gcm', 16), derive('nonce', 12));
    decipher.setAuthTag(record.subarray(-TAG));
    const padded = Buffer.concat([decipher.update(record.subarray(0, -TAG)), decipher.final()]);
    const end = padded.findLastIndex((octet) => octet !== 0);
    return padded[end] === LAST ? padded.subarray(0, end) : undefined;
  } catch {
    return undefined; // the sender's key is no point of the curve, or the tag is wrong
  }
}
