import { expect, test } from '@jest/globals';
import { until } from './process.ts';
import { startPostgres } from './postgres.ts';
import { startRelay } from './relay.ts';

test('a PostgreSQL keeps acknowledged writes after a SIGKILL', async () => {
  await using postgres = await startPostgres();
  await postgres.sql('CREATE TABLE kept (value text); INSERT INTO kept VALUES (1)');
  await postgres.kill();
  await expect(postgres.sql('SELECT 1')).rejects.toThrow();
  await postgres.start();
  expect(await postgres.sql('SELECT value FROM kept')).toBe('1');
});

test('a hung PostgreSQL answers again after it is woken', async () => {
  await using postgres = await startPostgres();
  await postgres.hang();
  const answer = postgres.sql('SELECT 1');
  const early = await Promise.race([answer, new Promise((resolve) => setTimeout(resolve, 300))]);
  expect(early).toBeUndefined();
  await postgres.wake();
  expect(await answer).toBe('1');
});

test('a synchronous standby has each commit and can be promoted without the primary', async () => {
  await using primary = await startPostgres();
  await using standby = await startPostgres({ standbyOf: primary });
  await primary.waitFor(standby);
  await primary.sql('CREATE TABLE kept (value text); INSERT INTO kept VALUES (1)');
  expect(await standby.sql('SELECT pg_is_in_recovery()')).toBe('t');
  await primary.kill();
  await standby.promote();
  expect(await standby.sql('SELECT value FROM kept')).toBe('1');
  await standby.sql('INSERT INTO kept VALUES (2)');
});

test('a commit waits while the standby is cut off from the network', async () => {
  await using primary = await startPostgres();
  await using relay = await startRelay(primary.port);
  await using standby = await startPostgres({ standbyOf: primary, through: relay });
  await primary.waitFor(standby);
  await primary.sql('CREATE TABLE kept (value text)');
  relay.divide();
  const committed = primary.sql('INSERT INTO kept VALUES (1)');
  const waits = `SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;
  await until(async () => (await primary.sql(waits)) === '1');
  relay.heal();
  await committed;
  await until(async () => (await standby.sql('SELECT value FROM kept')) === '1');
});
