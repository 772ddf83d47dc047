import { describe, expect, test } from '@jest/globals';
import { type ArtefactPlace, type Artefact, NEVER } from '../../oauth/artefacts.ts';
import { fresh } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

/** `artefacts.pageByClient`: the artefacts of a client that operators can see and end. */
export function artefactsOfClientsContract(contract: () => Contract): void {
  describe('the artefacts of a client', () => {
    const put = async (kind: string, payload: Artefact['payload'], seconds = 60, id = fresh()) => {
      await contract().one.artefacts.put({ kind, id, payload: { ...payload, id }, seconds });
      return id;
    };
    const page = async (kind: string, clientId: string, limit = 100, after?: ArtefactPlace) => {
      const { other } = contract();
      const { found, next } = await other.artefacts.pageByClient(kind, clientId, { limit, after });
      return { ids: found.map(({ id }) => String(id)), next };
    };
    const listed = async (kind: string, clientId: string) => (await page(kind, clientId)).ids;
    /** Returns the ids on all pages. */
    async function walked(kind: string, clientId: string, limit: number) {
      const seen: string[] = [];
      let after: ArtefactPlace | undefined;
      do {
        const { ids, next } = await page(kind, clientId, limit, after);
        seen.push(...ids);
        after = next;
      } while (after !== undefined);
      return seen;
    }

    test('grants and consents of all people are listed by client, without those of other clients or kinds', async () => {
      const { other } = contract();
      const [clientId, another] = [fresh(), fresh()];
      const grants = [
        await put('Access', { clientId, accountId: 'a' }, 300),
        await put('Access', { clientId, accountId: 'b' }, 200),
        await put('Access', { clientId }, 100),
      ];
      const consent = await put('Consent', { clientId });
      await put('Access', { clientId: another });
      for (const kind of ['SignIn', 'RefreshToken', 'Grant']) await put(kind, { clientId });
      expect(await listed('Access', clientId)).toEqual(grants);
      expect(await listed('Consent', clientId)).toEqual([consent]);
      expect(await other.artefacts.pageByClient('Consent', clientId, { limit: 1 })).toEqual({
        found: [{ clientId, id: consent }],
      });
      for (const kind of ['SignIn', 'RefreshToken', 'Grant']) {
        expect(await listed(kind, clientId)).toEqual([]);
      }
      expect(await page('Access', fresh())).toEqual({ ids: [], next: undefined });
    });

    test('pages list each artefact once, the last to expire first, and the last page has no `next`', async () => {
      const clientId = fresh();
      const ids: string[] = [];
      for (const seconds of [700, 600, 500, 400, 300]) {
        ids.push(await put('Access', { clientId }, seconds));
      }
      const first = await page('Access', clientId, 2);
      expect(first.ids).toEqual(ids.slice(0, 2));
      const second = await page('Access', clientId, 2, first.next);
      expect(second.ids).toEqual(ids.slice(2, 4));
      const third = await page('Access', clientId, 2, second.next);
      expect(third).toEqual({ ids: ids.slice(4), next: undefined });
      expect((await page('Access', clientId, 5)).next).toBeUndefined();
      expect(await page('Access', clientId, 2, { end: 0, id: '' })).toEqual({
        ids: [],
        next: undefined,
      });
    });

    test('artefacts that never expire come first, the highest octets of their ids first; each is on one page', async () => {
      const { one } = contract();
      const clientId = fresh();
      const base = fresh();
      const tails = ['', '-', '0', 'A', 'B', '_', 'a', 'aa', 'b', 'ä', 'ß', '😀', '\uFFFD'];
      for (const tail of tails) {
        const id = base + tail;
        await one.artefacts.put({ kind: 'Access', id, payload: { clientId, id } });
      }
      const last = await put('Access', { clientId }, 60);
      const byOctets = tails
        .map((tail) => base + tail)
        .toSorted((a, b) => Buffer.compare(Buffer.from(b), Buffer.from(a)));
      for (const limit of [1, 3, 5]) {
        expect(await walked('Access', clientId, limit)).toEqual([...byOctets, last]);
      }
      expect((await page('Access', clientId, 1)).next?.end).toBe(NEVER);
    });

    test('the next page is right even if the last artefact of a page was removed, or another one now expires', async () => {
      const { one } = contract();
      const clientId = fresh();
      const payload = (id: string) => ({ clientId, id });
      const base = fresh();
      const ids = [4, 3, 2, 1, 0].map((n) => `${base}${n}`);
      for (const id of ids) await one.artefacts.put({ kind: 'Access', id, payload: payload(id) });
      const { next } = await page('Access', clientId, 2);
      await one.artefacts.remove('Access', ids[1] ?? '');
      expect((await page('Access', clientId, 9, next)).ids).toEqual(ids.slice(2));
      const shorter = { kind: 'Access', id: ids[2] ?? '', payload: payload(ids[2] ?? '') };
      await one.artefacts.put({ ...shorter, seconds: 60 });
      const last = [...ids.slice(3), ids[2]];
      expect((await page('Access', clientId, 9, next)).ids).toEqual(last);
    });

    test('expired artefacts are not listed, swept or not', async () => {
      const { one, store } = contract();
      const clientId = fresh();
      await put('Access', { clientId }, 60);
      await put('Access', { clientId }, 61);
      const long = await put('Access', { clientId }, 600);
      await store.passSeconds(300);
      expect(await walked('Access', clientId, 1)).toEqual([long]);
      while ((await one.sweep()) > 0);
      expect(await walked('Access', clientId, 1)).toEqual([long]);
    });

    test('an artefact that was removed, by itself or with its grant, is not listed', async () => {
      const { one } = contract();
      const [clientId, grantId] = [fresh(), fresh()];
      const removed = await put('Consent', { clientId });
      await put('Access', { clientId, grantId });
      const kept = await put('Access', { clientId, grantId: fresh() });
      await one.artefacts.remove('Consent', removed);
      await one.artefacts.removeByGrant(grantId);
      expect(await listed('Consent', clientId)).toEqual([]);
      expect(await listed('Access', clientId)).toEqual([kept]);
    });

    test('an artefact that is written again is listed once, under its present client', async () => {
      const { one } = contract();
      const [clientId, later] = [fresh(), fresh()];
      const id = await put('Access', { clientId });
      await put('Access', { clientId, n: 2 }, 90, id);
      expect(await listed('Access', clientId)).toEqual([id]);
      const artefact = { kind: 'Access', id, payload: { clientId: later, id }, seconds: 60 };
      expect(await one.artefacts.replace(artefact, { clientId, n: 2, id })).toBe(true);
      expect(await listed('Access', clientId)).toEqual([]);
      expect(await listed('Access', later)).toEqual([id]);
    });

    test('clients with odd ids have only their own artefacts; an id that is no string has none', async () => {
      const base = fresh();
      const odd = [
        '',
        ':',
        '%',
        '*',
        "'; --",
        '"',
        '{a}',
        '__proto__',
        '😀',
        'https://a.example/?b#c',
      ]
        .map((tail) => base + tail)
        .concat('x'.repeat(10_000) + base);
      for (const clientId of odd) await put('Access', { clientId }, 60, `of ${clientId}`);
      for (const clientId of odd)
        expect(await listed('Access', clientId)).toEqual([`of ${clientId}`]);
      for (const clientId of [7, null, [base], { base }]) await put('Access', { clientId });
      for (const text of ['7', 'null', '', `["${base}"]`, `{"base":"${base}"}`]) {
        expect(await listed('Access', text)).toEqual([]);
      }
    });
  });
}
