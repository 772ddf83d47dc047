/** Restores a backup by hand, because `countersign restore` refuses while the test has the store open. */
import { randomBytes } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { get } from '../clients/digest/answers.fixture.ts';
import { overHttp } from '../clients/digest/over-http.ts';
import { issuerOf } from '../clients/private-token/issuer-of.ts';
import {
  directoryOf,
  obtain,
  offersIn,
  redeem,
} from '../clients/private-token/private-token-client.ts';
import type { Issuer, Offer } from '../clients/private-token/private-token-client.ts';
import type { Pair } from '../pair/pair.ts';
import { until } from '../parts/process.ts';
import { startFlow } from './flow.ts';

const PATH = '/schemes/private-token/';
const TYPES = [1, 2] as const;

/** A visitor's requests at a resource server. */
function visitor({ resource }: Pair) {
  const { hostname, port, host } = new URL(resource);
  const send = overHttp({ host: hostname, port: Number(port) });

  async function offers(): Promise<readonly Offer[]> {
    const found = offersIn(await send(get(PATH)), host);
    if (found.length !== TYPES.length) throw new Error('the issuer is not known here yet');
    return found;
  }
  return {
    offers,
    /** Gets a token of each type. */
    tokens: async (issuer: Issuer) =>
      Promise.all(
        (await offers()).map((offer) => obtain(offer, issuer, Date.now() / 1000, randomBytes)),
      ),
    spend: async (token: Buffer) => (await send(redeem(get(PATH), token))).status,
  };
}

/** Replaces the data with the backup, which has no documents. */
async function restore({ data }: Pair, backup: string): Promise<void> {
  for (const file of ['state.db-wal', 'state.db-shm', 'state.db.mark']) {
    await rm(join(data, file), { force: true });
  }
  await rename(join(backup, 'state.db'), join(data, 'state.db'));
}

interface Listed {
  readonly id: string;
  readonly state: string;
}

const listed = async (pair: Pair) =>
  Object.values(await pair.cli('private-token', 'keys')) as Listed[];

const idsIn = (keys: readonly Listed[], state: string) =>
  keys.filter((key) => key.state === state).map(({ id }) => id);

test.each([
  ['all servers are stopped, as documented', true],
  ['a resource server runs on, and is asked again and again', false],
])('after a restore no earlier token is accepted: %s', async (_how, stopAll) => {
  await using flow = await startFlow();
  const { pair } = flow;
  const { offers, spend, tokens } = visitor(pair);
  const issuer = await issuerOf(pair);
  const [before, after, unspent] = await Promise.all([1, 2, 3].map(() => tokens(issuer)));
  for (const token of before ?? []) expect(await spend(token)).toBe(200);

  const backup = join(pair.data, 'backup');
  await pair.cli('backup', backup);
  const old = await directoryOf(issuer);
  for (const token of after ?? []) expect(await spend(token)).toBe(200);
  const spent = [...(before ?? []), ...(after ?? [])];
  for (const token of spent) expect(await spend(token)).toBe(401);
  const keys = await listed(pair);
  expect(idsIn(keys, 'issuing')).toHaveLength(TYPES.length);

  const stopped = [...pair.authz, ...(stopAll ? pair.resources : [])];
  const end = new AbortController();
  const statuses = new Set<number>();
  const replay = async () => {
    while (!end.signal.aborted) for (const token of spent) statuses.add(await spend(token));
  };
  const replays = Promise.all(stopAll ? [] : [replay(), replay()]);
  await Promise.all(stopped.map((server) => server.kill('SIGTERM')));
  await restore(pair, backup);
  for (const server of stopped) await server.start();

  const again = await issuerOf(pair);
  const fresh = await directoryOf(again);
  expect(fresh.keys).toHaveLength(TYPES.length);
  expect(fresh.keys.filter(({ key }) => old.keys.some((one) => one.key.equals(key)))).toEqual([]);
  const now = await listed(pair);
  expect(idsIn(now, 'retired')).toEqual(idsIn(keys, 'issuing'));
  expect(idsIn(now, 'issuing')).toHaveLength(TYPES.length);

  const isFresh = ({ key }: Offer) => fresh.keys.some((one) => key && one.key.equals(key));
  await until(async () => (await offers()).every(isFresh));
  end.abort();
  await replays;
  expect([...statuses].filter((status) => ![401, 503].includes(status))).toEqual([]);
  const news = await tokens(again);
  for (const token of [...spent, ...(unspent ?? [])]) expect(await spend(token)).toBe(401);
  for (const token of news) {
    expect(await spend(token)).toBe(200);
    expect(await spend(token)).toBe(401);
  }
});
