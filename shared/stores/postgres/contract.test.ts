import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Postgres, startPostgres } from '../../../e2e/parts/postgres.ts';
import { storesContract } from '../contract/index.ts';
import { readAsWhole } from './plan.fixture.ts';
import { statements } from './text.ts';
import { postgresUnderTest } from './under-test.ts';

let postgres: Postgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres[Symbol.asyncDispose]());

storesContract('postgres', () => postgresUnderTest(postgres));

/** Tables that stay short, whatever is in the store. */
const SHORT =
  'cache_report declared epoch followed gateway_key key last_backup numbers record schema settled token_key tree_copy';

/** Tables that `countersign export` reads as a whole. */
const EXPORTED: ReadonlySet<string> = new Set([
  'SELECT record FROM api_key ORDER BY application, created, id',
  'SELECT record FROM client ORDER BY client_id',
]);

test('no statement of the contract scans a whole table that grows', async () => {
  const { url } = postgres;
  const { open, schema, end } = await postgresUnderTest(postgres);
  await (await open())[Symbol.asyncDispose]();
  const short = new Set(SHORT.split(' '));
  const asked = statements().filter(({ text }) =>
    /^(?:SELECT|INSERT|UPDATE|DELETE|WITH)/.test(text),
  );
  const found = [...(await readAsWhole({ url, schema }, asked))].filter(
    ([text, tables]) => !EXPORTED.has(text) && !tables.every((table) => short.has(table)),
  );
  expect(found).toEqual([]);
  await end();
});
