import type { ScopeItem } from '#shared/people/access/consents.ts';
import { type Access, isPlain } from '../../gnap/access.ts';
import type { AccessObject } from '../../gnap/grant-request.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import type { Language } from '../frame/view.ts';
import { type Texts, textsOf } from '../texts/index.ts';

/**
 * Returns a function that tells for which objects of access a scope is asked, as the client has described them (RFC 9635
 * section 8): one text for each. It tells nothing if some right has the scope without a restriction.
 */
export function rightsInWords(
  accesses: readonly Access[],
  language: Language,
): (item: ScopeItem) => readonly string[] {
  const texts = textsOf(language).rights;
  return ({ scope, resource }) => {
    const rights = accesses
      .filter(({ space }) => space.url === resource)
      .flatMap(({ space, rights: all }) => all.map((right) => ({ space, rights: [right] })))
      .filter(({ rights: [right] }) => [...(right?.needs.values() ?? [])].flat().includes(scope));
    if (rights.some(isPlain)) return [];
    return rights.flatMap(({ rights: [right] }) => {
      if (right === undefined || typeof right.asked === 'string') return [];
      const { asked, needs } = right;
      const actions = asked.actions.filter((action) => needs.get(action)?.includes(scope));
      return [wordsOf(asked, actions, texts)];
    });
  };
}

const DETAILS = ['datatypes', 'identifier', 'locations', 'privileges'] as const;

function wordsOf(asked: AccessObject, actions: readonly string[], texts: Texts['rights']): string {
  const details = DETAILS.flatMap((name) => {
    const value = asked[name];
    return value === undefined ? [] : texts[name]([value].flat().join(', '));
  });
  return [texts.actions(actions.join(', '), asked.type), ...details].join('; ');
}

/** Returns the client's name. An unknown client without a name is called by its identifier. */
export const nameOf = (
  { client_name: name, client_id: id }: ClientRecord,
  language: Language,
): string => (name === id ? textsOf(language).unknownClient.unnamed : name);
