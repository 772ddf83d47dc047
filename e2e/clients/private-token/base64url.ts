/** base64url with padding (RFC 4648 section 5), as RFC 9577 and RFC 9578 require. */
export function encode(octets: Uint8Array): string {
  const text = Buffer.from(octets).toString('base64url');
  return text.padEnd(Math.ceil(text.length / 4) * 4, '=');
}

/** Throws for any other spelling of the same octets, even without padding. */
export function decode(text: string): Buffer {
  const octets = Buffer.from(text, 'base64url');
  if (encode(octets) !== text) throw new SyntaxError(`not base64url with padding: ${text}`);
  return octets;
}
