import { loadConfig } from '#shared/config/load.ts';
import { proxyUrl } from '#shared/config/proxy-url.ts';
import type { Config } from '#shared/config/schema.ts';
import { realmNeeds, type RealmNeeds } from '#shared/directory/realms.ts';
import type { Command } from '../command.ts';
import { columns } from '../printable.ts';

interface Realm {
  readonly url: string;
  readonly realm: string;
  readonly schemes: readonly string[];
  /** Of Digest. */
  readonly algorithms: readonly string[];
  readonly keeps: Pick<RealmNeeds, 'digest' | 'scram'>;
}

export const realmList: Command = {
  name: 'realm list',
  summary: 'list the spaces and the proxy: where, which schemes, what is kept of each person',
  details: ['Beside that one argon2id hash of each password is kept, and names in Kerberos.'],
  run: async (_, { env }) => {
    const realms = realmsOf(await loadConfig(env));
    return { json: realms, lines: columns(realms.map(row)) };
  },
};

function realmsOf(config: Config): Realm[] {
  const needs = new Map(realmNeeds(config).map((need) => [need.realm, need]));
  const { spaces, proxy, listen } = config;
  const doors = [...spaces, ...(proxy ? [{ ...proxy, url: proxyUrl(proxy, listen.proxy) }] : [])];
  return doors.map(({ url, realm, schemes, digest }) => {
    const { digest: digests = [], scram = [] } = needs.get(realm) ?? {};
    const algorithms = schemes.some((scheme) => scheme === 'Digest') ? digest.algorithms : [];
    return { url, realm, schemes, algorithms, keeps: { digest: digests, scram } };
  });
}

const row = ({ url, realm, schemes, algorithms, keeps }: Realm) => [
  url,
  realm,
  schemes
    .map((scheme) => (scheme === 'Digest' ? `Digest (${algorithms.join(', ')})` : scheme))
    .join(', '),
  [
    ...keeps.digest.map((hash) => `HA1 of ${hash}`),
    ...keeps.scram.map((hash) => `keys of SCRAM-${hash}`),
  ].join(', '),
];
