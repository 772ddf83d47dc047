/** The most characters of a message; a longer message is refused before it is decoded. */
const LONGEST = 4096;

/**
 * Decodes strict base64 (RFC 4648 section 4), with padding or, as Apache HttpClient sends it, without. Returns
 * undefined for anything else: other alphabets, spaces, incomplete padding, spare bits that are not zero.
 */
export function decodeBase64(text: string): Buffer | undefined {
  if (text.length > LONGEST) return undefined;
  const bytes = Buffer.from(text, 'base64');
  const canonical = bytes.toString('base64');
  return text === canonical || text === canonical.replace(/=+$/, '') ? bytes : undefined;
}

/** Decodes the message in a `data` parameter (RFC 7804 section 7); returns undefined if it is not UTF-8 in base64. */
export function decodeMessage(data: string): string | undefined {
  const bytes = decodeBase64(data);
  try {
    return bytes && new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

export function encodeMessage(message: string): string {
  return Buffer.from(message).toString('base64');
}
