import { expect, test } from '@jest/globals';
import { contentOf, idsOf, KEY, keep, someAnswer, type StoreUnderTest } from './under-test.ts';

/** Finding answers by their key (RFC 9111 sections 2 and 4). */
export function findingContract({ open }: StoreUnderTest): void {
  test('an answer is found as it was stored, with the length of its content', async () => {
    await using store = await open(1_000_000);
    const stored = someAnswer({
      status: 404,
      lines: [
        ['Set-Cookie', 'a=1'],
        ['Set-Cookie', 'b=2'],
        ['X-Empty', ''],
        ['X-Octets', 'ÿ"\\'],
      ],
      vary: [
        ['accept', 'text/html'],
        ['cookie', null],
      ],
      tags: ['one', 'two'],
    });
    const kept = { ...stored, length: 7 };
    expect(await keep(store, stored, 'content')).toEqual(kept);
    expect(await store.find(KEY)).toEqual([kept]);
    expect(await contentOf(store, kept)).toBe('content');
  });

  test('an answer without content, such as a 204, is stored', async () => {
    await using store = await open(1_000_000);
    const kept = await keep(store, someAnswer({ length: 0 }), '');
    expect(kept).toMatchObject({ length: 0 });
    expect(await contentOf(store, kept ?? someAnswer())).toBe('');
  });

  test.each([
    ['target', { target: '/a?b=C' }],
    ['principal', { whose: 'alice' }],
    ['content of a QUERY (RFC 10008 section 2.7)', { content: 'digest' }],
    ['principal, whose name is the digest', { whose: 'digest' }],
  ])('a key with another %s does not find the answer', async (_, other) => {
    await using store = await open(1_000_000);
    const [one, another] = [someAnswer(), someAnswer(other)];
    await keep(store, one);
    expect(await idsOf(store, another)).toEqual([]);
    await keep(store, another);
    expect(await idsOf(store, another)).toEqual([another.id]);
    expect(await idsOf(store)).toEqual([one.id]);
    await store.remove(one);
    expect(await idsOf(store, another)).toEqual([another.id]);
  });

  test('RFC 9111 section 4.1: the most recently received of several variants comes first', async () => {
    await using store = await open(1_000_000);
    const [middle, last, first] = [2000, 3000, 1000].map((received) => someAnswer({ received }));
    for (const one of [middle, last, first]) if (one) await keep(store, one);
    expect(await idsOf(store)).toEqual([last?.id, middle?.id, first?.id]);
    if (first) await store.replace({ ...first, received: 4000 });
    expect(await idsOf(store)).toEqual([first?.id, last?.id, middle?.id]);
  });

  test('RFC 9111 section 4.3.4: a freshened answer keeps its content', async () => {
    await using store = await open(1_000_000);
    const kept = await keep(store, someAnswer(), 'content');
    const lines: [string, string][] = [['ETag', '"new"']];
    const fresh = { ...(kept ?? someAnswer()), lines, received: 9000 };
    await store.replace(fresh);
    expect(await store.find(KEY)).toEqual([fresh]);
    expect(await contentOf(store, fresh)).toBe('content');
    expect(store.stats().entries).toBe(1);
  });

  test('freshening does not restore an answer that was removed', async () => {
    await using store = await open(1_000_000);
    const stored = someAnswer();
    await keep(store, stored);
    await store.remove(stored);
    await store.replace({ ...stored, length: 1 });
    expect(await idsOf(store)).toEqual([]);
    expect(await contentOf(store, stored)).toBeUndefined();
    expect(store.stats()).toEqual({ entries: 0, octets: 0 });
  });
}
