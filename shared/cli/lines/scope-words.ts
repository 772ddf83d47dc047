/** Each scope once, whatever its resource. */
export const scopeWords = (scopes: Readonly<Record<string, readonly string[]>>): string =>
  [...new Set(Object.values(scopes).flat())].join(' ');
