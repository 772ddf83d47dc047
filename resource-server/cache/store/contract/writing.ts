import { expect, test } from '@jest/globals';
import {
  contentOf,
  idsOf,
  keep,
  KEY,
  someAnswer,
  type StoreUnderTest,
  textOf,
} from './under-test.ts';

/** Storing an answer while it arrives, and reading it meanwhile. */
export function writingContract({ open }: StoreUnderTest): void {
  test('content is found only when it is whole', async () => {
    await using store = await open(1_000_000);
    const stored = someAnswer();
    const writing = store.begin(stored);
    expect(await writing?.append(Buffer.from('con'))).toBe(true);
    expect(await idsOf(store)).toEqual([]);
    expect(await contentOf(store, stored)).toBeUndefined();
    expect(await writing?.append(Buffer.from('tent'))).toBe(true);
    const kept = await writing?.commit([]);
    expect(kept).toEqual({ ...stored, length: 7 });
    expect(await store.find(KEY)).toEqual([kept]);
    writing?.close();
    expect(await contentOf(store, stored)).toBe('content');
  });

  test.each([undefined, 200_000])(
    'content can be read from any position while it arrives and afterwards (length known: %p)',
    async (length) => {
      await using store = await open(1_000_000);
      const stored = someAnswer({ length });
      const writing = store.begin(stored);
      if (writing === undefined) throw new Error('not taken');
      const whole = Buffer.from(Array.from({ length: 200_000 }, (_, index) => index % 251));
      const seen: Buffer[] = [];
      for (let at = 0; at < whole.length; at += 7000) {
        expect(await writing.append(whole.subarray(at, at + 7000))).toBe(true);
        expect(writing.length).toBe(Math.min(at + 7000, whole.length));
        seen.push(await writing.read(at, 10_000));
      }
      expect(Buffer.concat(seen).equals(whole)).toBe(true);
      expect(await writing.commit([])).toMatchObject({ length: 200_000 });
      expect(await writing.read(199_990, 100)).toEqual(whole.subarray(199_990));
      expect(await writing.read(200_000, 100)).toEqual(Buffer.alloc(0));
      writing.close();
      const content = await store.content(stored);
      expect(await content?.read(3, 5)).toEqual(whole.subarray(3, 8));
      expect(Buffer.concat(seen).equals(whole)).toBe(true);
      content?.close();
    },
  );

  test('a buffer may be reused as soon as it is appended', async () => {
    await using store = await open(1_000_000);
    const stored = someAnswer();
    const writing = store.begin(stored);
    const piece = Buffer.from('one');
    await writing?.append(piece);
    piece.write('two');
    await writing?.append(piece);
    expect(await writing?.read(0, 10)).toEqual(Buffer.from('onetwo'));
    await writing?.commit([]);
    writing?.close();
    piece.fill(0);
    expect(await contentOf(store, stored)).toBe('onetwo');
  });

  test('a new answer replaces the named answers, and no others', async () => {
    await using store = await open(1_000_000);
    const [first, second, third] = [someAnswer(), someAnswer(), someAnswer({ received: 3000 })];
    await keep(store, first);
    await keep(store, second);
    expect(await keep(store, third, 'new', [first.id, 'unknown'])).toBeDefined();
    expect(await idsOf(store)).toEqual([third.id, second.id]);
    expect(await contentOf(store, first)).toBeUndefined();
  });

  test('RFC 9111 section 3.3: content shorter or longer than its announced length is not stored', async () => {
    await using store = await open(1_000_000);
    const kept = await keep(store, someAnswer(), 'before');
    expect(await keep(store, someAnswer({ length: 8 }), 'content', [kept?.id ?? ''])).toBe(
      undefined,
    );
    const long = store.begin(someAnswer({ length: 6 }));
    expect(await long?.append(Buffer.from('cont'))).toBe(true);
    expect(await long?.append(Buffer.from('ent'))).toBe(false);
    expect(await long?.append(Buffer.from('en'))).toBe(false);
    expect(await textOf(long ?? fail())).toBe('cont');
    expect(await long?.commit([])).toBeUndefined();
    long?.close();
    expect(await store.find(KEY)).toEqual([kept]);
    expect(store.stats().entries).toBe(1);
  });

  test('abandoned content is not stored, and its octets can be read until it is closed', async () => {
    await using store = await open(1_000_000);
    const writing = store.begin(someAnswer());
    await writing?.append(Buffer.from('content'));
    writing?.abandon();
    expect(await textOf(writing ?? fail())).toBe('content');
    expect(await writing?.append(Buffer.from('more'))).toBe(false);
    expect(await writing?.commit([])).toBeUndefined();
    writing?.close();
    writing?.close();
    expect(await idsOf(store)).toEqual([]);
    expect(store.stats()).toEqual({ entries: 0, octets: 0 });
  });

  test('content that is closed before its end is not stored', async () => {
    await using store = await open(1_000_000);
    const writing = store.begin(someAnswer({ length: 100_000 }));
    await writing?.append(Buffer.from('content'));
    writing?.close();
    expect(store.stats()).toEqual({ entries: 0, octets: 0 });
  });
}

const fail = (): never => {
  throw new Error('not taken');
};
