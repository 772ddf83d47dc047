/** How trees, locks and budgets name a person or an application, by the id that stays theirs alone. */
export const accountName = (kind: 'person' | 'application', id: string): string =>
  `${kind}=${encodeURIComponent(id)}`;

/** The tree of a space that has one for all; `segments`: the path of the space. */
export const sharedTree = (segments: readonly string[]): string =>
  `/${segments.map(encodeURIComponent).join('/')}`;

/** Returns the tree of one account, in a space where each has one. */
export const ownTree = (segments: readonly string[], account: string): string =>
  `${sharedTree(segments)}?${account}`;
