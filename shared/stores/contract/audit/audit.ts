import { describe, expect, test } from '@jest/globals';
import { MOST_ENTRIES } from '../../audit/audit.ts';
import { fresh } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';
import { closeAll, linkAfter, rowsAfter } from './close-all.ts';

const EVERY = { first: 1, last: Number.MAX_SAFE_INTEGER };
/** The next hour in which no other test has counted events. */
let hours = 0;

export function auditContract(contract: () => Contract): void {
  const texts = (count: number) => Array.from({ length: count }, () => JSON.stringify(fresh()));
  /** Appends entries, closes them into a link, and returns their rows. */
  const written = async (all: readonly string[]) => {
    const { one } = contract();
    await closeAll(one);
    await one.audit.append(...all);
    const { head } = await one.audit.open();
    await closeAll(one);
    return rowsAfter(head, all).map(({ seq, text }) => ({ seq, text }));
  };

  describe('audit', () => {
    test('appended audit entries are outside the chain, in their order, until a caller closes them into a link', async () => {
      const { one, other } = contract();
      await closeAll(one);
      const [first = '', second = '', third = ''] = texts(3);
      await one.audit.append(first, second);
      await other.audit.append(third);
      const open = await other.audit.open();
      expect(open.texts.toSorted()).toEqual([first, second, third].toSorted());
      expect(open.texts.indexOf(first)).toBeLessThan(open.texts.indexOf(second));
      expect((await closeAll(one)).length).toBe(3);
      expect((await other.audit.open()).texts).toEqual([]);
    });

    test('if ten callers close the open entries at once, one makes the link, and each entry becomes one row', async () => {
      const { one, other } = contract();
      await closeAll(one);
      const all = texts(5);
      for (const text of all) await one.audit.append(text);
      const { head } = await one.audit.open();
      const closed = await Promise.all(
        Array.from({ length: 10 }, async (_, n) => {
          const { audit } = n % 2 === 0 ? one : other;
          const open = await audit.open();
          const link = linkAfter(open.head, open.texts.length, { mac: `by ${n}` });
          if (open.texts.length === 0) return false;
          return audit.close(link, rowsAfter(open.head, open.texts), open.upTo);
        }),
      );
      expect(closed.filter(Boolean)).toHaveLength(1);
      const rows = await other.audit.rows({ ...EVERY, first: (head?.last ?? 0) + 1 }, 100);
      expect(rows.map(({ text }) => text).toSorted()).toEqual(all.toSorted());
      const [last] = await one.audit.links(undefined, 1);
      expect(last?.mac).toBe(`by ${closed.indexOf(true)}`);
    });

    test('at least one of ten simultaneous callers may close entries, and a second later a caller may again', async () => {
      const { one, other, store } = contract();
      await store.passSeconds(1);
      const asked = Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? one : other));
      const told = await Promise.all(asked.map(({ audit }) => audit.takeTurn()));
      expect(told).toContain(true);
      await store.passSeconds(1);
      expect(await other.audit.takeTurn()).toBe(true);
    });

    test.each([-1, 0, 2])(
      'a new link of the chain is refused if its number is the last number + %i',
      async (more) => {
        const { one, other } = contract();
        await written(texts(2));
        await one.audit.append(...texts(1));
        const { head, texts: open, upTo } = await one.audit.open();
        const link = linkAfter(head, 1, { number: (head?.number ?? 0) + more });
        expect(await other.audit.close(link, rowsAfter(head, open), upTo)).toBe(false);
        const after = await one.audit.open();
        expect(after).toEqual({ texts: open, upTo, head });
      },
    );

    test('a link has a limited number of entries; further entries stay open', async () => {
      const { one } = contract();
      await closeAll(one);
      for (let n = 0; n < MOST_ENTRIES + 1; n += 100) await one.audit.append(...texts(100));
      const { texts: open, head, upTo } = await one.audit.open();
      expect(open).toHaveLength(MOST_ENTRIES);
      await one.audit.close(linkAfter(head, open.length), rowsAfter(head, open), upTo);
      expect(await closeAll(one)).toHaveLength(100);
    });

    test('audit rows are read by their number, from either end, up to a limit', async () => {
      const rows = await written(texts(5));
      const { audit } = contract().other;
      const first = rows[0]?.seq ?? 0;
      const last = first + 4;
      expect(await audit.rows({ first, last }, 9)).toEqual(rows);
      expect(await audit.rows({ first: first + 1, last }, 2)).toEqual(rows.slice(1, 3));
      const newest = await audit.rows({ first, last: last - 1, newestFirst: true }, 2);
      expect(newest).toEqual([rows[3], rows[2]]);
    });

    test('a query by key returns only rows with this key', async () => {
      const all = texts(4);
      const rows = await written(all);
      const { audit } = contract().other;
      const first = rows[0]?.seq ?? 0;
      expect(await audit.rows({ ...EVERY, key: all[2] ?? '' }, 9)).toEqual([rows[2]]);
      expect(await audit.rows({ ...EVERY, key: 'all', first }, 3)).toEqual(rows.slice(0, 3));
      const newest = { key: 'all', first, last: first + 2, newestFirst: true };
      expect(await audit.rows(newest, 2)).toEqual([rows[2], rows[1]]);
      expect(await audit.rows({ ...EVERY, key: "all' OR 1=1 --" }, 9)).toEqual([]);
    });

    test('links are found by number and by time', async () => {
      await written(texts(1));
      const { audit } = contract().other;
      const [head] = await audit.links(undefined, 1);
      await written(texts(2));
      const [next] = await audit.links(undefined, 1);
      expect(next).toEqual(linkAfter(head, 2));
      expect(await audit.links(head?.number, 9)).toEqual([head, next]);
      expect(await audit.links(head?.number, 1)).toEqual([head]);
      expect(await audit.linkAt(head?.at ?? 0)).toEqual(head);
      expect(await audit.linkAt((head?.at ?? 0) + 1)).toEqual(next);
      expect(await audit.linkAt((next?.at ?? 0) + 1)).toBeUndefined();
    });

    test('a removed link is gone with its rows, and no key finds them', async () => {
      const all = texts(2);
      const rows = await written(all);
      const { one, other } = contract();
      const [link] = await one.audit.links(undefined, 1);
      await written(texts(1));
      if (!link) throw new Error('there is no link');
      await one.audit.end(
        link,
        rows.map(({ seq, text }) => ({ seq, text, keys: ['all', text] })),
      );
      expect(await other.audit.rows({ first: link.first, last: link.last }, 9)).toEqual([]);
      expect(await other.audit.rows({ ...EVERY, key: all[0] ?? '' }, 9)).toEqual([]);
      expect(await other.audit.rows({ first: link.first, last: link.last, key: 'all' }, 9)).toEqual(
        [],
      );
      expect((await other.audit.links(link.number, 1))[0]?.number).toBe(link.number + 1);
    });

    test('only the first refusals of a person in an hour are appended; further ones are only counted, even ten at once', async () => {
      const { one, other } = contract();
      await closeAll(one);
      const [alice, bob] = [fresh(), `${fresh()} with a space`];
      hours += 2;
      const hour = hours;
      const refuse = (person: string, n: number) =>
        (n % 2 === 0 ? one : other).audit.appendRefusal(
          { hour, person },
          4,
          JSON.stringify(person),
        );
      await Promise.all(Array.from({ length: 10 }, (_, n) => refuse(alice, n)));
      await refuse(bob, 0);
      const open = await closeAll(one);
      expect(open.filter((text) => text === JSON.stringify(alice))).toHaveLength(4);
      expect(open.filter((text) => text === JSON.stringify(bob))).toHaveLength(1);
      expect(await other.audit.refusals(hour)).toEqual([]);
      const counts = await other.audit.refusals(hour + 1);
      expect(counts).toHaveLength(2);
      expect(counts).toContainEqual({ hour, person: alice, count: 10 });
      expect(counts).toContainEqual({ hour, person: bob, count: 1 });
    });

    test('if ten callers write one count of refusals to the audit log at once, one succeeds', async () => {
      const { one, other } = contract();
      await closeAll(one);
      hours += 2;
      const count = { hour: hours, person: fresh(), count: 1 };
      await one.audit.appendRefusal(count, 0, 'not appended');
      const settled = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          (n % 2 === 0 ? one : other).audit.settleRefusal(count, `"by ${n}"`),
        ),
      );
      expect(settled.filter(Boolean)).toHaveLength(1);
      expect(await closeAll(one)).toEqual([`"by ${settled.indexOf(true)}"`]);
      for (const rest of await other.audit.refusals(hours + 1)) await one.audit.settleRefusal(rest);
      expect(await other.audit.refusals(hours + 1)).toEqual([]);
      expect(await closeAll(one)).toEqual([]);
    });
  });
}
