/**
 * Bytes of the header of aes128gcm (RFC 8188 section 2.1) up to the key's id: salt, record size, and length of the
 * id.
 */
const ID_LENGTH = 16 + 4;

/** True if a message names the key that signs the credentials as its own (RFC 8292 section 3.2). */
export function isOwnKey(coding: string | undefined, body: Buffer, key: string): boolean {
  if (coding?.trim().toLowerCase() !== 'aes128gcm') return false;
  const length = body[ID_LENGTH] ?? 0;
  const id = body.subarray(ID_LENGTH + 1, ID_LENGTH + 1 + length);
  return id.toString('base64url') === key;
}
