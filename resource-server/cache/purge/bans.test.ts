import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { type Log, silentLog } from '#shared/base/log.ts';
import type { BanRule } from '#shared/http/ban-rule.ts';
import type { Stored } from '../rules/stored.ts';
import { Bans } from './bans.ts';

const stored = (id: string, more: Partial<Stored> = {}): Stored => ({
  id,
  target: `/${id}`,
  whose: '',
  content: '',
  status: 200,
  lines: [],
  vary: [],
  requested: 0,
  received: 0,
  length: 0,
  tags: [],
  outdated: false,
  ...more,
});

/** A store that visits one answer at a time, each when the test allows it. */
function storeWith(...ids: readonly string[]) {
  const entries = new Map(ids.map((id) => [id, stored(id)]));
  let open: (() => void) | undefined;
  let gate = Promise.resolve();
  return {
    entries,
    ids: () => [...entries.values()].map(({ id, outdated }) => (outdated ? `${id} outdated` : id)),
    hold() {
      gate = new Promise((resolve) => (open = resolve));
    },
    go() {
      open?.();
    },
    async removeWhere(matches: (one: Stored) => boolean, soft: boolean) {
      let met = 0;
      for (const one of entries.values()) {
        await gate;
        if (!matches(one)) continue;
        met++;
        if (soft) entries.set(one.id, { ...one, outdated: true });
        else entries.delete(one.id);
      }
      return met;
    },
  };
}

const spelling = { depth: 0, normal: (target: string) => target };
const bansOf = (store: ReturnType<typeof storeWith>, log: Log = silentLog) =>
  new Bans({ store, spelling, log });
const ban = (rule: BanRule | string, soft = false) => ({
  space: 'https://api.example/',
  kind: 'ban' as const,
  value: typeof rule === 'string' ? rule : JSON.stringify(rule),
  soft,
  at: 1,
  position: '1',
});

async function swept(bans: Bans) {
  while (bans.pending > 0) await setImmediate();
}

describe('bans and stored answers', () => {
  test('a banned answer is hidden at once, and removed in the background', async () => {
    const store = storeWith('a', 'b');
    const bans = bansOf(store);
    store.hold();
    bans.add(ban({ path: '/a' }));
    expect(store.ids()).toEqual(['a', 'b']);
    expect(bans.among([...store.entries.values()]).map(({ id }) => id)).toEqual(['b']);
    expect(bans.pending).toBe(1);
    store.go();
    await swept(bans);
    expect(store.ids()).toEqual(['b']);
    expect(bans.list()).toEqual([
      { rule: { path: '/a' }, soft: false, at: 1, met: 1, swept: true },
    ]);
  });

  test('a soft-banned answer is stale at once, and stays stored', async () => {
    const store = storeWith('a', 'b');
    const bans = bansOf(store);
    store.hold();
    bans.add(ban({ path: '/a' }, true));
    expect(bans.among([stored('a'), stored('b')]).map(({ outdated }) => outdated)).toEqual([
      true,
      false,
    ]);
    store.go();
    await swept(bans);
    expect(store.ids()).toEqual(['a outdated', 'b']);
  });

  test('an answer with a soft ban and a ban is removed', async () => {
    const store = storeWith('a', 'b');
    const bans = bansOf(store);
    bans.add(ban({ path: '/a' }, true));
    bans.add(ban({ path: '/*' }));
    expect(bans.among([stored('a')])).toEqual([]);
    await swept(bans);
    expect(store.ids()).toEqual([]);
  });

  test('a ban that arrives while the store is swept for another is applied, too', async () => {
    const store = storeWith('a', 'b');
    const bans = bansOf(store);
    store.hold();
    bans.add(ban({ path: '/a' }));
    await setImmediate();
    bans.add(ban({ path: '/b' }));
    store.go();
    await swept(bans);
    expect(store.ids()).toEqual([]);
  });

  test.each(['{', '{"host":"a"}', '{}'])(
    'a ban with the unknown rule %s removes all answers',
    async (value) => {
      const store = storeWith('a');
      const bans = bansOf(store);
      bans.add(ban(value));
      expect(bans.among([stored('a')])).toEqual([]);
      await swept(bans);
      expect(store.ids()).toEqual([]);
    },
  );

  test('an answer is hidden and removed if more bans came than are remembered', async () => {
    const store = storeWith('a');
    const bans = bansOf(store);
    store.hold();
    for (let count = 0; count < 1001; count++) bans.add(ban({ path: '/other' }));
    expect(bans.among([stored('a')])).toEqual([]);
    expect(bans.list()).toHaveLength(100);
    store.go();
    await swept(bans);
    expect(store.ids()).toEqual([]);
  });
});

describe('bans and answers on their way', () => {
  const admit = async (bans: Bans, mark: number, one: Stored) =>
    bans.admit(mark, one, () => 'stored');

  test('an answer requested before a ban is not stored, even if the store was swept since', async () => {
    const bans = bansOf(storeWith());
    const mark = bans.mark;
    bans.add(ban({ path: '/a' }));
    await swept(bans);
    expect(await admit(bans, mark, stored('a'))).toBeUndefined();
    expect(await admit(bans, mark, stored('b'))).toBe('stored');
    expect(await admit(bans, bans.mark, stored('a'))).toBe('stored');
  });

  test('an answer requested before a soft ban is not stored', async () => {
    const bans = bansOf(storeWith());
    const mark = bans.mark;
    bans.add(ban({ path: '/a' }, true));
    expect(await admit(bans, mark, stored('a'))).toBeUndefined();
  });

  test('an answer requested before more bans than are remembered is not stored', async () => {
    const bans = bansOf(storeWith());
    const mark = bans.mark;
    for (let count = 0; count < 1001; count++) bans.add(ban({ path: '/other' }));
    expect(await admit(bans, mark, stored('a'))).toBeUndefined();
  });

  test('an answer requested after a ban can be used and stays stored during the sweep', async () => {
    const store = storeWith('a');
    const bans = bansOf(store);
    store.hold();
    bans.add(ban({ path: '/*' }));
    const fresh = stored('b');
    await bans.admit(bans.mark, fresh, () => store.entries.set('b', fresh));
    expect(bans.among([stored('a'), fresh])).toEqual([fresh]);
    store.go();
    await swept(bans);
    expect(store.ids()).toEqual(['b']);
  });

  test('an answer that is being stored when a ban comes is removed after it is stored', async () => {
    const store = storeWith();
    const bans = bansOf(store);
    let written = () => {};
    const writing = new Promise<void>((resolve) => (written = resolve));
    const admitted = bans.admit(bans.mark, stored('a'), async () => {
      await writing;
      store.entries.set('a', stored('a'));
    });
    bans.add(ban({ path: '/a' }));
    for (let turn = 0; turn < 5; turn++) await setImmediate();
    expect(bans.pending).toBe(1);
    written();
    await admitted;
    expect(bans.among([stored('a')])).toEqual([]);
    await swept(bans);
    expect(store.ids()).toEqual([]);
  });

  test('an error of the store reaches the process that stores the answer', async () => {
    const bans = bansOf(storeWith());
    const failing = bans.admit(0, stored('a'), () => Promise.reject(new Error('disk')));
    await expect(failing).rejects.toThrow('disk');
  });
});

test('if removing banned answers from the store fails, the ban still applies, and the next ban removes them', async () => {
  const store = storeWith('a', 'b');
  const reasons: (string | undefined)[] = [];
  const log = {
    ...silentLog,
    error: (_: string, fields: { reason?: string | undefined } = {}) => reasons.push(fields.reason),
  };
  const { removeWhere } = store;
  store.removeWhere = () => Promise.reject(new Error('disk'));
  const bans = bansOf(store, log);
  bans.add(ban({ path: '/a' }));
  await setImmediate();
  expect(reasons).toEqual(['disk']);
  expect(bans.among([stored('a')])).toEqual([]);
  store.removeWhere = removeWhere;
  bans.add(ban({ path: '/b' }));
  await swept(bans);
  expect(store.ids()).toEqual([]);
});

test('closing the bans waits for the sweep of the store', async () => {
  const store = storeWith('a');
  const bans = bansOf(store);
  bans.add(ban({ path: '/a' }));
  await bans[Symbol.asyncDispose]();
  expect(store.ids()).toEqual([]);
});
