import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ManualClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { randomId, systemRandom } from '#shared/base/random.ts';
import type { Audit, AuditLink } from '#shared/stores/audit/audit.ts';
import { someClient } from '#shared/stores/contract/samples.ts';
import { sharedUnderTest } from '#shared/stores/postgres/under-test.ts';
import { sqliteUnderTest } from '#shared/stores/sqlite/under-test.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { closeOpen, recordCounts } from './close.ts';
import type { AuditEvent } from './event-kinds.ts';
import { textOf } from './entry.ts';
import { listEvents } from './list.ts';
import { macKey } from './mac.ts';
import { createRecorder, MOST_REFUSALS } from './recorder.ts';
import { endOld } from './retention.ts';
import { auditSettings } from './settings.ts';
import { checkpointText, parseCheckpoint, verifyLog } from './verify.ts';

const DAY = 86_400;

interface Tampered extends AsyncDisposable {
  readonly stores: Stores;
  readonly clock: ManualClock;
  /** Replaces the text of a row, or removes the row, as an attacker who has the store but not the key. */
  change(seq: number, text?: string): Promise<void>;
  removeLink(number: number): Promise<void>;
  /** Makes the store refuse entries beside changes, or accept them again. */
  breakLog(broken: boolean): Promise<void>;
}

async function onSqlite(): Promise<Tampered> {
  const store = await sqliteUnderTest();
  const stores = await store.open();
  const sql = (text: string, ...values: (string | number)[]) => {
    using database = new DatabaseSync(store.statePath);
    database.prepare(text).run(...values);
  };
  return {
    stores,
    clock: store.clock,
    async change(seq, text) {
      if (text === undefined) sql('DELETE FROM audit WHERE seq = ?', seq);
      else sql('INSERT OR REPLACE INTO audit (seq, text) VALUES (?, ?)', seq, text);
    },
    async removeLink(number) {
      sql('DELETE FROM audit_link WHERE number = ?', number);
    },
    async breakLog(broken) {
      const [from, to] = broken ? ['audit_open', 'audit_away'] : ['audit_away', 'audit_open'];
      sql(`ALTER TABLE ${from} RENAME TO ${to}`);
    },
    async [Symbol.asyncDispose]() {
      await stores[Symbol.asyncDispose]();
      await store.end();
    },
  };
}

async function onPostgres(): Promise<Tampered> {
  const store = await sharedUnderTest();
  const { clock, sql } = store;
  const stores = await store.open();
  return {
    stores,
    clock,
    async change(seq, text) {
      const added = `INSERT INTO audit (seq, text) VALUES (${seq}, '${text?.replaceAll("'", "''")}')`;
      await sql(`DELETE FROM audit WHERE seq = ${seq}; ${text === undefined ? '' : added}`);
    },
    async removeLink(number) {
      await sql(`DELETE FROM audit_link WHERE number = ${number}`);
    },
    async breakLog(broken) {
      const [from, to] = broken ? ['audit_open', 'audit_away'] : ['audit_away', 'audit_open'];
      await sql(`ALTER TABLE ${from} RENAME TO ${to}`);
    },
    async [Symbol.asyncDispose]() {
      await stores[Symbol.asyncDispose]();
      await store.end();
    },
  };
}

const key = macKey(Buffer.alloc(32, 7));

describe.each([
  ['SQLite', onSqlite],
  ['PostgreSQL with Redis', onPostgres],
] as const)('the audit log on %s', (_, open) => {
  let tampered: Tampered;
  beforeAll(async () => {
    tampered = await open();
  });
  afterAll(async () => tampered[Symbol.asyncDispose]());

  const closing = () => ({ audit: tampered.stores.audit, key, clock: tampered.clock });
  const log = () => tampered.stores.audit;
  const write = async (event: AuditEvent) => {
    const { stores, clock } = tampered;
    await stores.audit.append(textOf(event, { who: 'operator', how: 'command line' }, clock.now()));
  };
  const last = async (): Promise<AuditLink | undefined> =>
    (await tampered.stores.audit.links(undefined, 1))[0];
  const verify = (checkpoint?: string) =>
    verifyLog(tampered.stores.audit, key, checkpoint ? parseCheckpoint(checkpoint) : undefined);

  /** Writes three links of three rows; returns the first seq of the second link. */
  async function written(): Promise<number> {
    for (let n = 0; n < 9; n += 1) {
      tampered.clock.advance(1);
      await write({ kind: 'person.disabled', person: randomId(systemRandom) });
      if (n % 3 === 2) await closeOpen(closing());
    }
    return ((await last())?.first ?? 0) - 3;
  }

  test('an untouched log is verified, and gives a checkpoint for the next verification', async () => {
    await written();
    const first = await verify();
    expect(first).toMatchObject({ ok: true });
    const checkpoint = first.ok && first.checkpoint ? checkpointText(first.checkpoint) : '';
    expect(await verify(checkpoint)).toEqual(first);
    await written();
    const second = await verify(checkpoint);
    expect(second).toMatchObject({ ok: true, rows: first.ok ? first.rows + 9 : 0 });
  });

  test('a log that was written with another key, as by a thief of the store, is not verified', async () => {
    await written();
    expect(await verifyLog(tampered.stores.audit, macKey(Buffer.alloc(32, 8)))).toMatchObject({
      ok: false,
    });
  });

  describe('verification', () => {
    let middle: number;
    let text: string;
    const row = async (seq: number) =>
      (await tampered.stores.audit.rows({ first: seq, last: seq }, 1))[0]?.text ?? '';
    beforeEach(async () => {
      middle = (await written()) + 1;
      text = await row(middle);
    });

    test('verification finds a row that was changed, until it is restored', async () => {
      await tampered.change(middle, text.replace('disabled', 'enabled'));
      expect(await verify()).toMatchObject({
        ok: false,
        reason: expect.stringContaining('changed'),
      });
      await tampered.change(middle, text);
      expect(await verify()).toMatchObject({ ok: true });
    });

    test('verification finds a row that was removed', async () => {
      await tampered.change(middle);
      expect(await verify()).toMatchObject({
        ok: false,
        reason: `row ${middle} is missing`,
      });
      await tampered.change(middle, text);
    });

    test('verification finds two rows that were exchanged, also across links', async () => {
      for (const other of [middle + 1, middle + 3]) {
        const its = await row(other);
        await tampered.change(middle, its);
        await tampered.change(other, text);
        expect(await verify()).toMatchObject({ ok: false });
        await tampered.change(middle, text);
        await tampered.change(other, its);
      }
      expect(await verify()).toMatchObject({ ok: true });
    });

    test('verification finds a row that was added after the last link', async () => {
      const end = (await last())?.last ?? 0;
      await tampered.change(end + 1, text);
      expect(await verify()).toEqual({ ok: false, reason: `row ${end + 1} is in no link` });
      await tampered.change(end + 1);
    });
  });

  test('a process that pauses while it closes does not overwrite the link of another process', async () => {
    const { audit } = tampered.stores;
    const { promise: paused, resolve: goOn } = Promise.withResolvers<void>();
    const slow: Audit = {
      ...audit,
      close: async (...link) => paused.then(() => audit.close(...link)),
    };
    const persons = [randomId(systemRandom), randomId(systemRandom)] as const;
    await write({ kind: 'person.disabled', person: persons[0] });
    const first = closeOpen({ ...closing(), audit: slow });
    await closeOpen(closing());
    await write({ kind: 'person.disabled', person: persons[1] });
    goOn();
    await first;
    expect(await verify()).toMatchObject({ ok: true });
    for (const person of persons) {
      expect((await listEvents(audit, { person }, { limit: 9 })).events).toHaveLength(1);
    }
  });

  test('a flood of refused sign-ins leaves ten entries of a person, and none for unknown names', async () => {
    const { stores, clock } = tampered;
    const parts = { stores, clock, log: silentLog, config: { audit: auditSettings.parse({}) } };
    const recorder = createRecorder(parts, { who: 'server', how: 'page' });
    const person = randomId(systemRandom);
    await closeOpen(closing());
    const before = (await log().refusals(Number.MAX_SAFE_INTEGER)).length;
    await Promise.all(
      [...Array(500).keys()].map((n) =>
        recorder
          .by({ who: 'server', how: 'page', from: `192.0.2.${n % 250}` })
          .refused(n % 2 === 0 ? person : undefined, 'password'),
      ),
    );
    expect((await log().open()).texts).toHaveLength(MOST_REFUSALS);
    const counts = await log().refusals(Number.MAX_SAFE_INTEGER);
    expect(counts.length - before).toBe(2);
    expect(counts.map(({ count }) => count)).toContain(250);
    await closeOpen(closing());
  });

  test('a change whose entry cannot be written is not made', async () => {
    const { stores } = tampered;
    const purge = {
      space: '/',
      kind: 'target',
      value: randomId(systemRandom),
      soft: false,
    } as const;
    const id = randomId(systemRandom);
    await closeOpen(closing());
    await tampered.breakLog(true);
    await expect(stores.recorded('invalidations', '{}').add([purge])).rejects.toThrow();
    await expect(stores.recorded('clients', '{}').add(someClient(id))).rejects.toThrow();
    await tampered.breakLog(false);
    expect(await stores.clients.get(id)).toBeUndefined();
    const purged = await stores.invalidations.list('target', 100);
    expect(purged.map(({ value }) => value)).not.toContain(purge.value);
    expect((await log().open()).texts).toEqual([]);
  });

  test('filters can be combined, and pages go in both directions', async () => {
    const [person, client] = [randomId(systemRandom), randomId(systemRandom)];
    const { audit } = tampered.stores;
    for (let n = 0; n < 4; n += 1) {
      tampered.clock.advance(60);
      await write({ kind: 'consent.given', person, client });
      await write({ kind: 'consent.ended', person, client: `${client} ${n}` });
      await closeOpen(closing());
    }
    const filter = { person, kind: 'consent.given' } as const;
    const all = await listEvents(audit, filter, { limit: 100 });
    expect(all.events.map(({ kind }) => kind)).toEqual(Array(4).fill('consent.given'));
    const newest = await listEvents(audit, filter, { limit: 100, newestFirst: true });
    expect(newest.events).toEqual(all.events.toReversed());
    const first = await listEvents(audit, filter, { limit: 2 });
    expect(first.events).toEqual(all.events.slice(0, 2));
    const next = await listEvents(audit, filter, { limit: 2, after: first.next });
    expect(next.events).toEqual(all.events.slice(2));
    const times = all.events.map(({ time }) => Date.parse(time));
    const between = { client, since: times[1] ?? 0, until: times[3] ?? 0 };
    expect((await listEvents(audit, between, { limit: 100 })).events).toEqual(
      all.events.slice(1, 3),
    );
    expect(await listEvents(audit, { since: tampered.clock.now() + 1 }, { limit: 9 })).toEqual({
      events: [],
    });
  });

  test.each(['person', 'client'] as const)(
    'a page of a %s and a kind reads only a page, however many other events the actor has',
    async (actor) => {
      const { audit } = tampered.stores;
      const id = randomId(systemRandom);
      const ids = { person: randomId(systemRandom), client: randomId(systemRandom), [actor]: id };
      const by = {
        who: actor === 'person' ? { person: id } : { client: id },
        how: 'page',
      } as const;
      const text = (event: AuditEvent) => textOf(event, by, tampered.clock.now());
      const issued = text({ kind: 'consent.ended', ...ids });
      const changed = text({ kind: 'consent.given', ...ids });
      for (let n = 0; n < 3; n += 1) {
        await audit.append(...Array<string>(700).fill(issued), changed);
        await closeOpen(closing());
      }
      let read = 0;
      const counting: Audit = {
        ...audit,
        async rows(...asked) {
          const found = await audit.rows(...asked);
          read += found.length;
          return found;
        },
      };
      const filter = { [actor]: id, kind: 'consent.given' } as const;
      const first = await listEvents(counting, filter, { limit: 2, newestFirst: true });
      expect(first.events.map(({ kind }) => kind)).toEqual(['consent.given', 'consent.given']);
      const page = { limit: 2, newestFirst: true, after: first.next };
      const second = await listEvents(counting, filter, page);
      expect(second.events.map(({ kind }) => kind)).toEqual(['consent.given']);
      const none = { [actor]: id, kind: 'client.removed' } as const;
      expect(await listEvents(counting, none, { limit: 2 })).toEqual({ events: [] });
      expect(read).toBe(3);
    },
  );

  test('when an hour is over, exactly one event has the number of refused sign-ins without an event of their own', async () => {
    const { audit } = tampered.stores;
    const person = randomId(systemRandom);
    const hour = Math.floor(tampered.clock.now() / 3_600_000);
    for (let n = 0; n < 5; n += 1) await audit.appendRefusal({ hour, person }, 0, '{}');
    await recordCounts(closing(), 2);
    await closeOpen(closing());
    expect((await listEvents(audit, { person }, { limit: 9 })).events).toEqual([]);
    tampered.clock.advance(3600);
    await Promise.all([1, 2, 3].map(() => recordCounts(closing(), 2)));
    await closeOpen(closing());
    const { events } = await listEvents(audit, { person }, { limit: 9 });
    expect(events).toMatchObject([{ kind: 'sign-in.refused-more', count: 3, who: 'server' }]);
  });

  test('old days are removed completely; the rest is verified, and a checkpoint of a removed day is not reported as theft', async () => {
    const { audit } = tampered.stores;
    await written();
    const first = await verify();
    const old = first.ok && first.checkpoint ? checkpointText(first.checkpoint) : '';
    tampered.clock.advance(2 * DAY);
    await written();
    const recent = await last();
    tampered.clock.advance(DAY);
    await Promise.all([1, 2, 3].map(() => endOld(closing(), 2)));
    const after = await verify(old);
    expect(after).toMatchObject({ ok: true, ended: true });
    const [oldest] = await audit.links(1, 1);
    expect(oldest?.number).toBe((recent?.number ?? 0) - 2);
    const kinds = (await listEvents(audit, {}, { limit: 100 })).events.map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'audit.ended').length).toBeGreaterThan(0);
    await endOld(closing(), 2);
    expect((await listEvents(audit, {}, { limit: 100 })).events).toHaveLength(kinds.length);
  });

  test('several writers at once, with clocks that jump back and forth, leave a chain that is verified', async () => {
    const { stores, clock } = tampered;
    const before = await last();
    const people = Array.from({ length: 40 }, () => randomId(systemRandom));
    await Promise.all(
      people.map(async (person, n) => {
        const skewed = clock.now() + (n % 2 === 0 ? DAY : -DAY) * 1000 * n;
        const by = { who: 'server', how: 'chore' } as const;
        await stores.audit.append(textOf({ kind: 'person.ended', person }, by, skewed));
        await closeOpen(closing());
      }),
    );
    await closeOpen(closing());
    expect(await verify()).toMatchObject({ ok: true });
    const links = await stores.audit.links((before?.number ?? 0) + 1, 100);
    const times = links.map(({ at }) => at);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    const found = await stores.audit.rows({ first: (before?.last ?? 0) + 1, last: 1e9 }, 100);
    const named = found.map(({ text }) => String(Reflect.get(JSON.parse(text), 'person')));
    expect(named.toSorted()).toEqual(people.toSorted());
  });

  test('verification finds links that are missing at the old end, in the middle or at the new end', async () => {
    await written();
    const before = await verify();
    const checkpoint = before.ok && before.checkpoint ? checkpointText(before.checkpoint) : '';
    const head = await last();
    if (!head) throw new Error('there is no link');
    for (let seq = head.first; seq <= head.last; seq += 1) await tampered.change(seq);
    await tampered.removeLink(head.number);
    expect(await verify(checkpoint)).toMatchObject({
      ok: false,
      reason: expect.stringContaining('before the checkpoint'),
    });
    expect(await verify()).toMatchObject({ ok: true });
    await tampered.removeLink(head.number - 2);
    expect(await verify()).toMatchObject({ ok: false });
    const [oldest] = await tampered.stores.audit.links(1, 1);
    for (let number = oldest?.number ?? 0; number < head.number - 1; number += 1) {
      await tampered.removeLink(number);
    }
    expect(await verify()).toMatchObject({ ok: false, reason: expect.stringContaining('missing') });
  });
});

test('a checkpoint has only one spelling', () => {
  const mac = 'a'.repeat(43);
  expect(parseCheckpoint(`12.${mac}`)).toEqual({ number: 12, mac });
  for (const text of [
    '',
    '12',
    `0.${mac}`,
    `12.${mac}a`,
    `-1.${mac}`,
    `1e3.${mac}`,
    `12.${mac} `,
  ]) {
    expect(parseCheckpoint(text)).toBeUndefined();
  }
});
