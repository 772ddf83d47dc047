import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { Connection } from 'pg';
import { type Postgres, startPostgres } from '../../../e2e/parts/postgres.ts';
import { recordedContract } from '../contract/audit/recorded.ts';
import { storesContract } from '../contract/index.ts';
import { replacingContract } from '../contract/oauth/replacing.ts';
import { usingContract } from '../contract/oauth/using.ts';
import { type Asked, asking, Exchange } from './exchange.ts';
import { postgresUnderTest } from './under-test.ts';

let postgres: Postgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres[Symbol.asyncDispose]());

const FAILURES = ['serialization_failure', 'deadlock_detected'].map((name) =>
  asking(`DO 'BEGIN RAISE ${name}; END'`),
);
/** Statements that begin or end a transaction. They cannot fail because of another transaction. */
const IS_FRAME = /^(?:BEGIN|COMMIT|SELECT set_config)/;
const WRITES = /INSERT INTO|UPDATE|DELETE FROM/;

/** The statements of a transaction up to one that has failed there: once for each. */
const failed = new Set<string>();
/** The statements of the transaction that a connection has begun, in the messages before. */
const begun = new Map<Connection, string>();
let isOpening = false;

/** Replaces the first statement that has not yet failed after the statements `before` by a failure. */
function fail(asked: Asked[], before: string): string | undefined {
  let place = before;
  for (const [n, { text }] of asked.entries()) {
    if (IS_FRAME.test(text)) continue;
    if (!place.endsWith(`\n${text}`)) place += `\n${text}`;
    const failure = FAILURES[failed.size % FAILURES.length];
    if (failed.has(place) || failure === undefined) continue;
    failed.add(place);
    asked[n] = failure;
    return undefined;
  }
  return place;
}

const { submit } = Exchange.prototype;
jest.spyOn(Exchange.prototype, 'submit').mockImplementation(function (this: Exchange, to) {
  const [first, last] = [this.asked[0]?.text, this.asked.at(-1)?.text];
  const isWrite = first === 'BEGIN' || this.asked.some(({ text }) => WRITES.test(text));
  const before = begun.get(to) ?? (isWrite ? '' : undefined);
  begun.delete(to);
  if (!isOpening && before !== undefined) {
    const isGoingOn = (first === 'BEGIN' || before !== '') && last !== 'COMMIT';
    const place = fail(this.asked as Asked[], before);
    if (isGoingOn && place !== undefined) begun.set(to, place);
  }
  submit.call(this, to);
});

storesContract(
  'postgres, where each statement of each transaction fails once because of others',
  async () => {
    const store = await postgresUnderTest(postgres);
    const open = async () => {
      isOpening = true;
      const stores = await store.open();
      isOpening = false;
      return stores;
    };
    return { ...store, open };
  },
  [recordedContract, replacingContract, usingContract],
);

test('if statements fail in one message, the statements of the same turn and the next ones fail, too', () => {
  const depths = [...failed].map((place) => place.split('\n').length - 1);
  expect(depths.length).toBeGreaterThan(100);
  expect(Math.max(...depths)).toBeGreaterThan(5);
});
