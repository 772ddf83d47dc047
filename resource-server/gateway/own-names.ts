import type { Space } from '../space/spaces.ts';

/** Names that are this server's to write or to read, wherever its spaces are. */
export interface OwnNames {
  /** In lower case, the fields by which some application is told who was let in. */
  readonly identityFields: ReadonlySet<string>;
  /** In lower case, the fields in which some space takes API keys, the usual one, and Referer, which repeats a query. */
  readonly keyFields: ReadonlySet<string>;
  /** The parameters of a query in which some space takes them. */
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
