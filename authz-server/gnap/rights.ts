import { grantedScopes } from '#shared/people/access/grants.ts';
import type { PagesServer } from '../base/server.ts';
import type { Allowed, AllowedRight } from './access.ts';

const KIND = 'GnapRights';

/** The most rights that are stored beside a grant; the latest are kept. */
const MOST = 100;

type Store = Pick<PagesServer, 'stores'>;

/** The scopes of a grant, by resource, and the rights for which they were allowed. */
export interface GrantedRights {
  readonly scopes: Readonly<Record<string, readonly string[]>>;
  readonly rights: readonly AllowedRight[];
}

/** Finds the rights that a person has allowed under a grant. */
export async function findRights({ stores }: Store, grantId: string): Promise<GrantedRights> {
  const [grant, kept] = await Promise.all([
    stores.artefacts.get('Grant', grantId),
    stores.artefacts.get(KIND, grantId),
  ]);
  // Only `addRights` writes the rights, so they are not checked again.
  const rights = (kept?.['rights'] ?? []) as readonly AllowedRight[];
  return { scopes: grantedScopes(grant), rights };
}

/** Returns the part of a grant that is about one space. */
export const allowedAt = ({ scopes, rights }: GrantedRights, url: string): Allowed => ({
  scopes: new Set(scopes[url]),
  rights,
});

/**
 * Stores a decision beside its grant, for `seconds`. Earlier rights stay, except those with a scope that the person has
 * now refused.
 */
export async function addRights(
  { stores }: Store,
  grantId: string,
  decided: {
    readonly added: readonly AllowedRight[];
    readonly refused: readonly { readonly scope: string; readonly resource?: string }[];
  },
  seconds: number,
): Promise<void> {
  const { added, refused } = decided;
  const isRefused = ({ url, scopes }: AllowedRight) =>
    refused.some(({ scope, resource }) => resource === url && scopes.includes(scope));
  for (;;) {
    const was = await stores.artefacts.get(KIND, grantId);
    const before = (was?.['rights'] ?? []) as readonly AllowedRight[];
    const rights = [...before.filter((right) => !isRefused(right)), ...added].slice(-MOST);
    const artefact = { kind: KIND, id: grantId, payload: { grantId, rights }, seconds };
    if (was === undefined) return stores.artefacts.put(artefact);
    if (await stores.artefacts.replace(artefact, was)) return;
  }
}
