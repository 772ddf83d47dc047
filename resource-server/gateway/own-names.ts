import type { Space } from '../space/spaces.ts';

/** Names that this server writes or reads itself, in any of its spaces. */
export interface OwnNames {
  /** The identity fields of all spaces, in lower case. */
  readonly identityFields: ReadonlySet<string>;
  /** In lower case: the fields of all spaces for API keys, the usual field, and Referer, which repeats a query. */
  readonly keyFields: ReadonlySet<string>;
  /** The query parameters of all spaces for API keys. */
  readonly keyParameters: ReadonlySet<string>;
}

/** Returns the names of all the spaces of a server. */
export function ownNames(spaces: readonly Space[]): OwnNames {
  const lower = (names: readonly string[]) => new Set(names.map((name) => name.toLowerCase()));
  return {
    identityFields: lower(spaces.flatMap(({ identity = {} }) => Object.keys(identity))),
    keyFields: lower([
      'X-API-Key',
      'Referer',
      ...spaces.flatMap(({ apiKeyField }) => apiKeyField ?? []),
    ]),
    keyParameters: new Set(spaces.flatMap(({ apiKeyQuery }) => apiKeyQuery ?? [])),
  };
}
