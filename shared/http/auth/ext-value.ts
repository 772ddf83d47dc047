/** ext-value without a language's letters checked: charset, two quotes, attr-char or pct-encoded. */
const EXT_VALUE = /^utf-8'[A-Za-z0-9-]*'((?:[A-Za-z0-9!#$&+.^_`|~-]|%[0-9A-Fa-f]{2})*)$/i;

/**
 * The text of an extended parameter value (RFC 8187 section 3.2), such as `UTF-8''J%C3%A4s%C3%B8n`.
 * Undefined when it is malformed, in another charset than UTF-8 or not UTF-8.
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
