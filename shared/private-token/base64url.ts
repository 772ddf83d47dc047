/** Encodes base64url with its padding, as RFC 9577 sections 2.1.2 and 2.2.2 and RFC 9578 section 4 require. */
export function encodePadded(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString('base64url');
  return text.padEnd(Math.ceil(text.length / 4) * 4, '=');
}

/**
 * Decodes base64url (RFC 4648 section 5) with all of its padding or, as some clients send it, with none. Returns
 * undefined for anything else: other alphabets, spaces, incomplete padding, spare bits that are not zero.
 */
export function decodeBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return text === encodePadded(bytes) || text === bytes.toString('base64url') ? bytes : undefined;
}
