import type { Language } from '#shared/pages/language.ts';
import type { AdminLink } from '../frame/admin-view.ts';
import { textsOf } from '../texts/index.ts';
import { pageOf } from './addresses.ts';
import { type Item, textIn } from './tell.ts';

/** A way from a row of a list to a page, with these members filled in. */
interface RowLink {
  readonly operation: string;
  /** Undefined: not from this row. */
  members(row: Item, query: Item): Item | undefined;
}

const gatewayOf = (query: Item) => (query['gateway'] === 'true' ? { gateway: 'true' } : {});

/** The ways from each row of a list, besides the one to its own page. */
const ROW_LINKS: Readonly<Record<string, readonly RowLink[]>> = {
  'key list': [
    {
      operation: 'key rotate',
      // A public key has a scheme; its owner makes another.
      members: ({ id, scheme }) => (scheme === undefined ? { id } : undefined),
    },
  ],
  'signing-keys list': [
    {
      operation: 'signing-keys rotate',
      members: ({ state, alg }, query) =>
        state === 'signing' ? { alg, ...gatewayOf(query) } : undefined,
    },
    {
      operation: 'signing-keys rotate',
      members: ({ state, kid }, query) =>
        state === 'retired' ? undefined : { kid, compromised: 'true', ...gatewayOf(query) },
    },
  ],
  'private-token keys': [
    {
      operation: 'private-token rotate',
      members: ({ state, type }) => (state === 'issuing' ? { type } : undefined),
    },
    {
      operation: 'private-token rotate',
      members: ({ state, type }) =>
        state === 'issuing' ? { type, compromised: 'true' } : undefined,
    },
  ],
};

/** Returns the ways from a row of a list. `query`: that of the list. */
export function rowLinks(
  list: string,
  row: Item,
  query: Item,
  language: Language,
): readonly AdminLink[] {
  return (ROW_LINKS[list] ?? []).flatMap(({ operation, members }) => {
    const filled = members(row, query);
    if (filled === undefined) return [];
    const { replace, compromised } = textsOf(language).admin;
    const texts = Object.keys(filled).map((name) => [name, textIn(filled, name)]);
    const href = pageOf(
      { name: operation },
      Object.fromEntries(texts) as Readonly<Record<string, string>>,
    );
    return [{ href, text: 'compromised' in filled ? compromised : replace }];
  });
}
