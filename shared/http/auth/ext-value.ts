/**
 * Matches an ext-value: charset, two quotes, attr-char or pct-encoded. The letters of the language are not checked.
 */
const EXT_VALUE = /^utf-8'[A-Za-z0-9-]*'((?:[A-Za-z0-9!#$&+.^_`|~-]|%[0-9A-Fa-f]{2})*)$/i;

/**
 * Returns the text of an extended parameter value (RFC 8187 section 3.2), such as `UTF-8''J%C3%A4s%C3%B8n`. Returns
 * undefined if it is malformed, names another charset than UTF-8, or is not UTF-8.
 */
export function parseExtValue(value: string): string | undefined {
  const encoded = EXT_VALUE.exec(value)?.[1];
  if (encoded === undefined) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}
