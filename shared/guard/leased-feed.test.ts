import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import type { Log } from '#shared/base/log.ts';
import { silentLog } from '#shared/base/log.ts';
import type { RevocableClaims } from '#shared/jose/access-token-claims.ts';
import { eventually } from '#shared/stores/contract/eventually.ts';
import type { RevocationFeed } from '#shared/stores/revocation/revocations.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { leasedFeed, type LeasedFeedOptions } from './leased-feed.ts';
import { pageEntry, parsePage, formatPage, type RevocationPage } from './revocation-page.ts';

const EPOCH = 'e'.repeat(22);
const FAR = 2_000_000_000_000;
const CLAIMS: RevocableClaims = {
  jti: 'a-token',
  kid: 'a-key',
  sub: 'a-person',
  client_id: 'a-client',
  grant_id: 'a-grant',
  sub_gen: 0,
  client_gen: 0,
  epoch: EPOCH,
};

interface Question {
  readonly after: string | undefined;
  readonly wait: number;
  readonly signal: AbortSignal;
  answer(page?: Partial<RevocationPage>): void;
  fail(error?: Error): void;
}

let clock: ManualClock;
let asked: Question[];
let feeds: RevocationFeed[];
beforeEach(() => {
  clock = new ManualClock();
  asked = [];
  feeds = [];
});
afterEach(async () => {
  for (const question of asked) question.fail();
  for (const feed of feeds) await feed[Symbol.asyncDispose]();
});

/** Creates a feed whose questions the test answers. */
function start(options: Partial<LeasedFeedOptions> = {}): RevocationFeed {
  const feed = leasedFeed({
    ask: (after, wait, signal) => {
      const { promise, resolve, reject } = Promise.withResolvers<RevocationPage>();
      signal.addEventListener('abort', () => reject(new Error('aborted')));
      asked.push({
        after,
        wait,
        signal,
        answer: (page) => resolve({ epoch: EPOCH, cursor: '1.x', entries: [], lease: 2, ...page }),
        fail: (error = new Error('no answer')) => reject(error),
      });
      return promise;
    },
    clock,
    log: silentLog,
    ...options,
  });
  feeds.push(feed);
  return feed;
}

/** Waits for the question with that number. */
const question = (number: number) =>
  eventually(() => {
    const found = asked[number];
    if (found === undefined) throw new Error(`not asked ${number} times yet`);
    return found;
  });

/** Answers that question; resolves when the feed asks the next one. */
async function answer(number: number, page?: Partial<RevocationPage>): Promise<void> {
  (await question(number)).answer(page);
  await question(number + 1);
}

const isTrusted = (feed: RevocationFeed) => {
  try {
    feed.current();
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(StoreUnavailable);
    return false;
  }
};

describe('the lease', () => {
  test('before the first answer no revocations are trusted, and all callers wait for it', async () => {
    const feed = start();
    expect(isTrusted(feed)).toBe(false);
    const waiting = feed.latest();
    (await question(0)).answer();
    expect((await waiting).revokedBy(CLAIMS)).toBeUndefined();
  });

  test('a lease begins when its request was sent, not at its answer', async () => {
    const feed = start();
    const first = await question(0);
    clock.advance(1.5);
    first.answer();
    await question(1);
    expect(isTrusted(feed)).toBe(true);
    clock.advance(0.499);
    expect(isTrusted(feed)).toBe(true);
    clock.advance(0.001);
    expect(isTrusted(feed)).toBe(false);
  });

  test('an answer that comes after its lease is not trusted', async () => {
    const feed = start();
    const first = await question(0);
    clock.advance(2);
    first.answer();
    await question(1);
    expect(isTrusted(feed)).toBe(false);
  });

  test('after the machine slept no lease is trusted: its monotonic clock was paused, but the wall clock was not', async () => {
    const feed = start();
    await answer(0);
    clock.set(2);
    expect(isTrusted(feed)).toBe(false);
    clock.set(-2);
    expect(isTrusted(feed)).toBe(true);
  });

  test('a wall clock that was set back does not extend a lease', async () => {
    const feed = start();
    await answer(0);
    clock.set(-3600);
    expect(isTrusted(feed)).toBe(false);
    await answer(1);
    await answer(2);
    expect(isTrusted(feed)).toBe(true);
  });

  test('only the last of several pages gives a lease', async () => {
    const feed = start();
    await answer(0, { lease: 0, cursor: '1.x' });
    expect(isTrusted(feed)).toBe(false);
    expect((await question(1)).after).toBe('1.x');
    await answer(1, { cursor: '2.x' });
    expect(isTrusted(feed)).toBe(true);
    expect((await question(2)).after).toBe('2.x');
  });

  test('a new lease is requested when a quarter of the old one has passed', async () => {
    start();
    expect((await question(0)).wait).toBe(0);
    await answer(0);
    expect((await question(1)).wait).toBe(0.5);
  });

  test('during a lease no caller waits, and afterwards callers wait only for the request under way', async () => {
    const feed = start();
    await answer(0);
    expect(feed.latest()).not.toBeInstanceOf(Promise);
    clock.advance(2);
    const waiting = feed.latest();
    expect(waiting).toBeInstanceOf(Promise);
    (await question(1)).fail();
    await expect(waiting).rejects.toThrow(StoreUnavailable);
  });

  test('a question without an answer is given up, and repeated as one that the server answers at once', async () => {
    const feed = start();
    await answer(0, { lease: 0.2 });
    const silent = await question(1);
    const next = await question(2);
    expect(silent.signal.aborted).toBe(true);
    expect(next.wait).toBe(0);
    next.answer();
    await question(3);
    expect(isTrusted(feed)).toBe(true);
  });

  test('after disposal the feed is not trusted, and asks no more', async () => {
    const feed = start();
    await answer(0);
    await feed[Symbol.asyncDispose]();
    expect(isTrusted(feed)).toBe(false);
    expect(feed.status().trusted).toBe(false);
    expect(asked.at(-1)?.signal.aborted).toBe(true);
    expect(asked).toHaveLength(2);
  });
});

describe('the followed revocations', () => {
  test.each([
    ['token', { kind: 'token', id: 'a-token' }],
    ['grant', { kind: 'grant', id: 'a-grant' }],
    ['key', { kind: 'key', id: 'a-key' }],
    ['person', { kind: 'person', id: 'a-person', generation: 1 }],
    ['client', { kind: 'client', id: 'a-client', generation: 1 }],
  ] as const)(
    'a %s is revoked, although the page has only a digest of its identifier',
    async (kind, revocation) => {
      const feed = start();
      const [token, other] = [
        CLAIMS,
        { ...CLAIMS, jti: 'b', grant_id: 'b', kid: 'b', sub: 'b', client_id: 'b' },
      ];
      await answer(0);
      expect(feed.current().revokedBy(token)).toBeUndefined();
      await answer(1, { entries: [pageEntry(revocation, FAR)] });
      expect(feed.current().revokedBy(token)).toBe(kind);
      expect(feed.current().revokedBy(other)).toBeUndefined();
      expect(feed.current().generation('a-person')).toBe(kind === 'person' ? 1 : 0);
      expect(feed.current().raisedSince('a-person', 0)).toBe(kind === 'person');
    },
  );

  test('repeated entries are merged, never replaced', async () => {
    const feed = start();
    await answer(0, { entries: [pageEntry({ kind: 'token', id: 'a-token' }, FAR)] });
    await answer(1, { entries: [] });
    expect(feed.current().revokedBy(CLAIMS)).toBe('token');
  });

  test('a token of another epoch is refused, and nothing is trusted until a new epoch is complete', async () => {
    const feed = start();
    const epoch = 'n'.repeat(22);
    await answer(0);
    expect(feed.current().revokedBy({ ...CLAIMS, epoch })).toBe('epoch');
    await answer(1, { epoch, lease: 0 });
    expect(isTrusted(feed)).toBe(false);
    await answer(2, { epoch });
    expect(feed.current().revokedBy(CLAIMS)).toBe('epoch');
    expect(feed.current().revokedBy({ ...CLAIMS, epoch })).toBeUndefined();
  });

  test('listeners learn the name of a compromised key', async () => {
    const feed = start();
    const heard: string[] = [];
    feed.onKeyRevoked((kid) => heard.push(kid));
    const revocations = [{ kind: 'token', id: 't' } as const, { kind: 'key', id: 'k' } as const];
    await answer(0, { entries: revocations.map((one) => pageEntry(one, FAR)) });
    expect(heard).toEqual(['k']);
  });

  test('expired entries are forgotten', async () => {
    const feed = start();
    const until = clock.now() + 1_000;
    await answer(0, { entries: [pageEntry({ kind: 'token', id: 'a-token' }, until)] });
    expect(feed.status().entries).toBe(1);
    clock.advance(3);
    await answer(1);
    await answer(2);
    expect(feed.status().entries).toBe(0);
  });

  test('entries that were forgotten while the clock was ahead are fetched again when the clock is set back', async () => {
    const feed = start();
    const until = clock.now() + 600_000;
    const entries = [pageEntry({ kind: 'token', id: 'a-token' }, until)];
    await answer(0, { entries });
    clock.set(3600);
    await answer(1);
    await answer(2);
    expect(feed.status().entries).toBe(0);
    clock.set(-3600);
    await answer(3);
    expect((await question(4)).after).toBeUndefined();
    await answer(4, { entries });
    expect(feed.current().revokedBy(CLAIMS)).toBe('token');
  });
});

describe('beyond the lease', () => {
  const logged: string[] = [];
  const log: Log = {
    info: (event) => logged.push(`info ${event}`),
    warn: (event) => logged.push(`warn ${event}`),
    error: (event) => logged.push(`error ${event}`),
  };

  test('after the lease known revocations are used for as long as the application chose, which is logged once', async () => {
    const feed = start({ stale: 300, log });
    await answer(0);
    clock.advance(2);
    for (let n = 0; n < 3; n += 1) expect(isTrusted(feed)).toBe(true);
    expect(feed.status().trusted).toBe(false);
    expect(logged).toEqual(['warn revocations.stale']);
    clock.advance(299.9);
    expect(isTrusted(feed)).toBe(true);
    clock.advance(0.1);
    expect(isTrusted(feed)).toBe(false);
    await answer(1);
    await answer(2);
    expect(isTrusted(feed)).toBe(true);
    expect(logged).toEqual(['warn revocations.stale', 'info revocations.followed']);
  });

  test('an incomplete epoch is not used, although the application allows stale revocations', async () => {
    const feed = start({ stale: 300 });
    await answer(0);
    await answer(1, { epoch: 'n'.repeat(22), lease: 0 });
    expect(isTrusted(feed)).toBe(false);
  });
});

describe('a page', () => {
  const page: RevocationPage = {
    epoch: EPOCH,
    cursor: '1.x',
    entries: [
      pageEntry({ kind: 'token', id: 'a-token' }, FAR),
      pageEntry({ kind: 'person', id: 'a-person', generation: 3 }, FAR),
    ],
    lease: 2,
  };

  test('a page is read as it was written, and names no person', () => {
    const text = formatPage(page);
    expect(parsePage(text)).toEqual(page);
    expect(text).not.toContain('a-person');
    expect(text).not.toContain('a-token');
  });

  test.each([
    ['no JSON', '{'],
    ['no object', '[]'],
    ['nothing', 'null'],
    ['no epoch', { ...page, epoch: '' }],
    ['no cursor', { ...page, cursor: 7 }],
    ['a lease below 0', { ...page, lease: -1 }],
    ['a lease that is no number', { ...page, lease: '2' }],
    ['no entries', { ...page, entries: {} }],
    ['an unknown kind', { ...page, entries: [{ ...page.entries[0], kind: 'tenant' }] }],
    ['an entry without an id', { ...page, entries: [{ kind: 'token', until: 1 }] }],
    ['an entry without an end', { ...page, entries: [{ kind: 'token', id: 'x' }] }],
    [
      'a person without a generation',
      { ...page, entries: [{ kind: 'person', id: 'x', until: 1 }] },
    ],
  ])('a page with %s is refused', (_, text) => {
    expect(() => parsePage(typeof text === 'string' ? text : JSON.stringify(text))).toThrow();
  });
});
