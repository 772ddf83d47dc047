import { hash } from 'node:crypto';
import { parseUniqueDictionary } from '#shared/http/structured-fields.ts';

/**
 * Returns the thumbprint (RFC 8705 section 3.1) of the certificate in the lines of Client-Cert (RFC 9440 section 2.2),
 * or undefined if there is none, or more than one. The lines count only if a trusted proxy has sent them.
 */
export function certificateThumbprint(lines: readonly string[]): string | undefined {
  const [line, another] = lines;
  if (line === undefined || another !== undefined) return undefined;
  // An item is parsed as the only member of a dictionary.
  const certificate = parseUniqueDictionary(`c=${line}`)?.get('c');
  if (certificate?.type !== 'bytes' || certificate.value.length === 0) return undefined;
  return hash('sha256', certificate.value, 'base64url');
}
