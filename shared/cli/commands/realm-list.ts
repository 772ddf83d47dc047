import { neededVerifiers } from '#shared/config/needed-verifiers.ts';
import { loadConfig } from '#shared/config/load.ts';
import { proxyUrl } from '#shared/config/proxy-url.ts';
import type { Config } from '#shared/config/schema.ts';
import type { KeptKind } from '#shared/people/verifier-kind.ts';
import { inOrder, variantsByScheme } from '#shared/operations/people/by-scheme.ts';
import type { Command } from '../arguments/command.ts';
import { table } from '../lines/table.ts';

interface Realm {
  readonly url: string;
  readonly realm: string;
  readonly schemes: readonly string[];
  /** The algorithms of Digest. */
  readonly algorithms: readonly string[];
  /** The types of PrivateToken. */
  readonly types: readonly string[];
  /** The one of Mutual. */
  readonly mutual: readonly string[];
  readonly keeps: readonly KeptKind[];
}

export const realmList: Command = {
  name: 'realm list',
  summary:
    'list the spaces and the proxy: address, schemes, and the verifiers stored for each person',
  details: ['Besides, the store has one argon2id hash of each password, and Kerberos principals.'],
  run: async (_, { env }) => {
    const realms = realmsOf(await loadConfig(env));
    return { json: realms.map(shown), lines: table(HEADINGS, realms.map(row)) };
  },
};

function realmsOf(config: Config): Realm[] {
  const needs = new Map(neededVerifiers(config).map((need) => [need.realm, need]));
  const { spaces, proxy, listen } = config;
  const doors = [...spaces, ...(proxy ? [{ ...proxy, url: proxyUrl(proxy, listen.proxy) }] : [])];
  return doors.map((door) => {
    const { url, realm, digest } = door;
    const schemes: readonly string[] = door.schemes;
    const algorithms = schemes.includes('Digest') ? digest.algorithms : [];
    const offersTokens = 'privateToken' in door && schemes.includes('PrivateToken');
    const types = offersTokens ? door.privateToken.types : [];
    const mutual = schemes.includes('Mutual') ? [door.mutual.algorithm] : [];
    const keeps = needs.get(realm)?.kinds ?? [];
    return { url, realm, schemes, algorithms, types, mutual, keeps };
  });
}

const shown = ({ keeps, ...realm }: Realm) => ({ ...realm, keeps: variantsByScheme(keeps) });

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
