import { createDecipheriv, createHmac } from 'node:crypto';
import type { ReceiverKeys } from './receiver-keys.ts';

const KEY = 16;
const NONCE = 12;
const TAG = 16;
/** The delimiter of the last record (RFC 8188 section 2). Only zeros follow it. */
const LAST = 2;
/** Salt, record size, and the sender's key with its length: the key has 65 octets (RFC 8291 section 4). */
const HEADER = 16 + 4 + 1 + 65;

const hmac = (key: Buffer, ...data: readonly (Buffer | string)[]) =>
  createHmac('sha256', key)
    .update(Buffer.concat(data.map((part) => Buffer.from(part as Buffer))))
    .digest();

/**
 * Returns the text of a message in one record of the content coding aes128gcm (RFC 8291 section 3.4).
 * Throws for any other message.
 */
export function decrypt({ ecdh, auth }: ReceiverKeys, body: Buffer): Buffer {
  const [salt, sender, sealed] = [
    body.subarray(0, 16),
    body.subarray(21, HEADER),
    body.subarray(HEADER),
  ];
  if (body.length < HEADER || body[20] !== sender.length)
    throw new Error('it names no key of its sender');
  const size = body.readUInt32BE(16);
  if (sealed.length <= TAG || sealed.length > size) throw new Error('it is not one record');

  const combined = hmac(auth, ecdh.computeSecret(sender));
  const input = hmac(combined, 'WebPush: info\0', ecdh.getPublicKey(), sender, '\x01');
  const pseudorandom = hmac(salt, input);
  const key = hmac(pseudorandom, 'Content-Encoding: aes128gcm\0', '\x01').subarray(0, KEY);
  const nonce = hmac(pseudorandom, 'Content-Encoding: nonce\0', '\x01').subarray(0, NONCE);

  const decipher = createDecipheriv('aes-128-gcm', key, nonce);
  decipher.setAuthTag(sealed.subarray(-TAG));
  const padded = Buffer.concat([decipher.update(sealed.subarray(0, -TAG)), decipher.final()]);
  const end = padded.findLastIndex((octet) => octet !== 0);
  if (padded[end] !== LAST) throw new Error('its padding does not end the last record');
  return padded.subarray(0, end);
}
