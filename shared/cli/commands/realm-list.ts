import { loadConfig } from '#shared/config/load.ts';
import { inOrder } from '#shared/operations/people/by-scheme.ts';
import {
  listRealms,
  type Realm,
  realmsOf,
  shownRealm,
} from '#shared/operations/spaces/realm-list.ts';
import type { Command } from '../arguments/command.ts';
import { table } from '../lines/table.ts';

/** The command needs no store: the realms are in the configuration. */
export const realmList: Command = {
  name: listRealms.name,
  summary: listRealms.summary,
  details: ['The store also has one argon2id hash of each password, and Kerberos principals.'],
  run: async (_, { env }) => {
    const realms = realmsOf(await loadConfig(env));
    return { json: realms.map(shownRealm), lines: table(HEADINGS, realms.map(row)) };
  },
};

const among = (scheme: string, variants: readonly string[]) =>
  variants.length === 0 ? scheme : `${scheme} (${variants.join(', ')})`;

const HEADINGS = ['url', 'realm', 'schemes', 'kept of each person'];

const row = ({ url, realm, schemes, algorithms, types, mutual, keeps }: Realm) => [
  url,
  realm,
  schemes
    .map((scheme) =>
      among(scheme, { Digest: algorithms, PrivateToken: types, Mutual: mutual }[scheme] ?? []),
    )
    .join(', '),
  inOrder(keeps)
    .map((kind) => kind.keeps)
    .join(', '),
];
