import prepare from '@mongodb-js/saslprep';

/**
 * Prepares a query string by SASLprep (RFC 4013): code points that were unassigned in Unicode 3.2 are allowed.
 * Returns undefined if nothing is left, or if the text has a prohibited character, a lone surrogate or both writing
 * directions (RFC 4013 section 2.4).
 */
export function saslprep(text: string): string | undefined {
  try {
    return prepare(text, { allowUnassigned: true }) || undefined;
  } catch {
    return undefined;
  }
}
