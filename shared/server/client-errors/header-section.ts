/** The octets that are added for each field (RFC 9113 section 6.5.2). */
const FIELD_OVERHEAD = 32;

/** Returns the size of a header or trailer section of HTTP/2 in octets, from alternating names and values. */
export function sectionSize(rawHeaders: readonly string[]): number {
  let size = (rawHeaders.length / 2) * FIELD_OVERHEAD;
  for (const text of rawHeaders) size += text.length;
  return size;
}
