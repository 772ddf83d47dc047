/** Returns the scopes of all resources, each scope once. */
export const scopeWords = (scopes: Readonly<Record<string, readonly string[]>>): string =>
  [...new Set(Object.values(scopes).flat())].join(' ');
