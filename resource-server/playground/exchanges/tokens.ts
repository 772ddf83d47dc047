/** Returns the header and the payload of a JWT (RFC 7519 section 3). Undefined: the value is not a JWT. */
export function jwtInClear(value: string): string | undefined {
  const [header, payload, signature, ...more] = value.split('.');
  if (signature === undefined || more.length > 0) return undefined;
  return [header, payload].map((part = '') => inLines(Buffer.from(part, 'base64url'))).join('\n');
}

/** Writes each member of a JSON object on its own line. Other content stays unchanged. */
function inLines(octets: Buffer): string {
  try {
    return JSON.stringify(JSON.parse(octets.toString()), undefined, 2);
  } catch {
    return octets.toString();
  }
}
