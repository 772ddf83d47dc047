import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { type Postgres, startPostgres } from '../../../e2e/parts/postgres.ts';
import { edit, fresh, putWith } from '../contract/samples.ts';
import type { Stores } from '../stores.ts';
import { type Asked, Exchange } from './exchange.ts';
import { openPostgres } from './open.ts';
import { postgresStore } from './started.fixture.ts';

let postgres: Postgres;
let stores: Stores;
beforeAll(async () => {
  postgres = await startPostgres();
  stores = await openPostgres(postgresStore([postgres.url]), {
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    skew: 5,
  });
});
afterAll(async () => {
  await stores[Symbol.asyncDispose]();
  await postgres[Symbol.asyncDispose]();
});

const sent: (readonly Asked[])[] = [];
const { submit } = Exchange.prototype;
jest.spyOn(Exchange.prototype, 'submit').mockImplementation(function (this: Exchange, to) {
  sent.push(this.asked);
  submit.call(this, to);
});

/** Resolves to the statements of each message that work sends about these tables. */
async function messagesOf(work: () => unknown, tables: RegExp) {
  sent.length = 0;
  await work();
  return sent.filter((asked) => asked.some(({ text }) => tables.test(text)));
}

const token = (id: string) => ({ kind: 'RefreshToken', id, payload: { grantId: 'g' } });

test('reads of one turn are one message, at most 32 statements of it', async () => {
  const read = async () => {
    const ids = Array.from({ length: 33 }, (_, n) => `${n}`);
    await Promise.all(ids.map((id) => stores.revocations.generation('client', id)));
  };
  const messages = await messagesOf(read, /FROM generation/);
  expect(messages.map((asked) => asked.length)).toEqual([32, 1]);
});

test('RFC 6749 section 6: one message uses a refresh token and stores its successor', async () => {
  await stores.artefacts.put(token('first'));
  const use = () =>
    stores.artefacts.consume('RefreshToken', 'first', {
      attempt: 'a',
      successor: token('second'),
    });
  expect(await messagesOf(use, /artefact/)).toHaveLength(1);
});

test('replacing a document takes three messages: one that reads, one that locks and one that commits', async () => {
  const path = 'a';
  const put = () => edit(stores, 'messages', [putWith(path, Buffer.from(fresh()))]);
  await put();
  await put();
  const messages = await messagesOf(put, /tree|resource/);
  expect(messages.map(([first]) => first?.text.split(' ')[0])).toEqual([
    'BEGIN',
    'BEGIN',
    'UPDATE',
  ]);
});

test('one use of a bucket is one message, and a refused use takes one more', async () => {
  const spend = () => stores.limits.spend('visits', 'somebody', { burst: 1, per: 60 });
  expect(await messagesOf(spend, /bucket/)).toHaveLength(1);
  expect(await messagesOf(spend, /bucket/)).toHaveLength(2);
});

test('40 entries of the audit log with four keys each are closed in a few messages', async () => {
  const link = { number: 1, before: '', first: 1, last: 40, at: 0, oldest: 0, mac: '' };
  const rows = Array.from({ length: 40 }, (_, n) => ({
    seq: n + 1,
    text: '',
    keys: ['a', 'b', 'c', 'd'],
  }));
  const messages = await messagesOf(() => stores.audit.close(link, rows, '[]'), /audit/);
  expect(messages.length).toBeLessThan(6);
});

test('entries and settled uses of one turn are one message and one transaction', async () => {
  for (const id of ['third', 'fourth']) {
    await stores.artefacts.put(token(id));
    await stores.artefacts.consume('RefreshToken', id, { attempt: id });
  }
  const write = async () =>
    Promise.all([
      stores.audit.append('{}'),
      stores.audit.append('{}', '{}'),
      ...['third', 'fourth'].map((id) => stores.artefacts.settle('RefreshToken', id, id)),
    ]);
  const messages = await messagesOf(write, /audit_open|artefact/);
  expect(messages.map((asked) => asked.length)).toEqual([5]);
  expect(await stores.artefacts.get('RefreshToken', 'third')).not.toHaveProperty('attempt');
});
