import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Config } from '#shared/config/schema.ts';
import { postgresStore } from '#shared/stores/postgres/started.fixture.ts';
import { type Pair, startPair } from '../pair/pair.ts';
import { startPostgres } from '../parts/postgres.ts';
import { temporaryFolder } from '../parts/temporary-folder.ts';

/** Lengths below and above the limit for content in rows, for SQLite and PostgreSQL. */
const LENGTHS = [10, 20_000, 100_000];

/** Stops the servers, restores the backup into another store, and starts them on that store. */
async function move(pair: Pair, backup: string, store: Config['store']): Promise<void> {
  const servers = [...pair.authz, ...pair.resources];
  for (const server of servers) await server.kill();
  const file = join(pair.data, 'config-0.json');
  const config = JSON.parse(await readFile(file, 'utf8')) as Partial<Config>;
  await writeFile(file, JSON.stringify({ ...config, store }));
  await pair.cli('restore', backup, '--replace');
  for (const server of servers) await server.start();
}

test('a pair moves from SQLite to PostgreSQL and back: people sign in, and documents are read and written', async () => {
  await using postgres = await startPostgres();
  await using backups = await temporaryFolder();
  await using pair = await startPair();
  const { name, password } = await pair.addPerson();
  const client = await pair.addClient();
  const signsIn = async () => {
    const authorization = `Basic ${btoa(`${name}:${password}`)}`;
    return (await fetch(`${pair.resource}/schemes/basic/`, { headers: { authorization } })).status;
  };
  const at = (path: string) => `${pair.documents}${path}`;
  const put = async (path: string, token: string, length: number) => {
    const headers = { authorization: `Bearer ${token}` };
    const body = path.repeat(length).slice(0, length);
    return (await fetch(at(path), { method: 'PUT', headers, body })).status;
  };
  const lengths = async (token: string, paths: readonly string[]) =>
    Promise.all(
      paths.map(async (path) => {
        const headers = { authorization: `Bearer ${token}` };
        const text = await (await fetch(at(path), { headers })).text();
        return text === path.repeat(text.length).slice(0, text.length) ? text.length : text;
      }),
    );

  const first = await pair.token(client);
  for (const length of LENGTHS) expect(await put(`first-${length}`, first, length)).toBe(201);
  expect(await signsIn()).toBe(200);
  const firsts = LENGTHS.map((length) => `first-${length}`);

  await pair.cli('backup', join(backups.path, 'one'));
  await move(pair, join(backups.path, 'one'), postgresStore([postgres.url]));
  expect(await pair.get(first)).toBe(401);
  const second = await pair.token(client);
  expect(await lengths(second, firsts)).toEqual(LENGTHS);
  for (const length of LENGTHS) expect(await put(`second-${length}`, second, length)).toBe(201);
  expect(await put('first-10', second, 11)).toBe(204);
  expect(await signsIn()).toBe(200);

  await pair.cli('backup', join(backups.path, 'two'));
  await move(pair, join(backups.path, 'two'), { kind: 'sqlite' });
  expect(await pair.get(second)).toBe(401);
  const third = await pair.token(client);
  const all = [...firsts, ...LENGTHS.map((length) => `second-${length}`)];
  expect(await lengths(third, all)).toEqual([11, ...LENGTHS.slice(1), ...LENGTHS]);
  expect(await signsIn()).toBe(200);
});
