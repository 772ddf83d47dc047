/** Returns the name of a person or an application in trees, locks and budgets, by an id that is never reused. */
export const accountName = (kind: 'person' | 'application', id: string): string =>
  `${kind}=${encodeURIComponent(id)}`;

/** Returns the tree of a space with one tree for all accounts. `segments`: the path of the space. */
export const sharedTree = (segments: readonly string[]): string =>
  `/${segments.map(encodeURIComponent).join('/')}`;

/** Returns the tree of one account, in a space with a tree for each. */
export const ownTree = (segments: readonly string[], account: string): string =>
  `${sharedTree(segments)}?${account}`;
