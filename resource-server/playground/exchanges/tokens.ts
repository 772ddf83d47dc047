/** Returns the header and the payload of a JWT (RFC 7519 section 3). Undefined: it is none. */
export function jwtInClear(value: string): string | undefined {
  const [header, payload, signature, ...more] = value.split('.');
  if (signature === undefined || more.length > 0) return undefined;
  return [header, payload].map((part = '') => Buffer.from(part, 'base64url')).join('\n');
}
