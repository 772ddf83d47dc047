import prepare from '@mongodb-js/saslprep';

/**
 * SASLprep (RFC 4013) of a query string: code points that Unicode 3.2 did not know are allowed.
 * Undefined: nothing is left of it, or it has a prohibited character, a lone surrogate or text of both
 * directions (RFC 4013 section 2.4).
 */
export function saslprep(text: string): string | undefined {
  try {
    return prepare(text, { allowUnassigned: true }) || undefined;
  } catch {
    return undefined;
  }
}
