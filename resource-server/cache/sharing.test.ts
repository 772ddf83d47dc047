import { afterEach, describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { inPieces, type Pieces } from '../answers/pieces.ts';
import { type Forwarded, settled, testCache } from './cache.fixture.ts';
import { openDisk } from './store/disk.ts';
import { MemoryStore } from './store/memory.ts';

const MAX_BYTES = 1024 * 1024;
/** More than a quarter of the store, the limit of one answer. */
const TOO_LONG = 600 * 1024;
const FITS = 200 * 1024;
const FRESH = { 'Cache-Control': 'max-age=3600' };

const contentOf = (octets: number) => Buffer.from(Array.from({ length: octets }, (_, at) => at));

/** Writes all content as the application, as fast as the cache reads it. */
async function send({ sink }: Forwarded, content: Buffer): Promise<void> {
  for (let at = 0; at < content.length; at += 16_384) {
    const goesOn = sink.write(content.subarray(at, at + 16_384));
    if (!goesOn) await new Promise<void>((resolve) => sink.drained(resolve));
  }
  sink.end([]);
}

type Client = ReturnType<ReturnType<typeof testCache>['ask']>;

/**
 * Contents that a test reads, and its clients. Each is closed at the end: Node ends a process that leaves an open file
 * to the garbage collector.
 */
const begun: Pieces[] = [];
const all: ReturnType<typeof testCache>[] = [];
afterEach(async () => {
  for (const body of begun.splice(0)) await body[Symbol.asyncDispose]();
  for (const { leave } of all.splice(0)) leave();
});

async function bodyOf({ answered }: Client) {
  const body = (await answered)?.body;
  if (!inPieces(body)) throw new Error('not in pieces');
  begun.push(body);
  return body;
}

/** Reads an answer in small pieces, each on demand. */
async function slowly(client: Client) {
  const body = await bodyOf(client);
  const pieces = body.each(1000)[Symbol.asyncIterator]();
  const read: Buffer[] = [];
  const next = async () => {
    const { value, done } = await pieces.next();
    if (!done) read.push(Buffer.from(value));
    return done !== true;
  };
  return {
    next,
    async rest() {
      while (await next());
      return Buffer.concat(read);
    },
  };
}

/** Reads the whole content of an answer. */
const rest = async (client: Client) => (await slowly(client)).rest();

describe.each([
  { name: 'memory', open: async () => new MemoryStore(MAX_BYTES) },
  {
    name: 'disk',
    async open() {
      const disk = await openDisk({ folder: await temporaryFolder(), spaces: ['a'] });
      const store = disk.store('a', MAX_BYTES);
      return Object.assign(store, { [Symbol.asyncDispose]: () => disk[Symbol.asyncDispose]() });
    },
  },
])('several clients share one answer, kept in $name', ({ open }) => {
  async function asked(count: number) {
    const store = await open();
    const of = testCache(MAX_BYTES, { store });
    all.push(of);
    const clients = Array.from({ length: count }, () => of.ask());
    await settled();
    expect(of.asked).toHaveLength(1);
    const [one] = of.asked;
    const [first] = clients;
    if (one === undefined || first === undefined) throw new Error('nobody asks');
    return { of, store, one, first, others: clients.slice(1) };
  }

  /** Waits for the requests of clients that each ask the application themselves. */
  const own = (of: ReturnType<typeof testCache>, count: number) =>
    eventually(() => {
      expect(of.asked).toHaveLength(1 + count);
      return of.asked.slice(1);
    });

  test('an answer of known length goes to each reader as it arrives, and a slow reader gets every octet', async () => {
    const { of, store, one, first, others } = await asked(4);
    await using _ = store;
    const content = contentOf(FITS);
    one.head(200, { ...FRESH, 'Content-Length': String(FITS) });
    const sent = send(one, content);
    const slow = await slowly(first);
    await slow.next();
    const [stalling, ...fast] = others;
    if (stalling !== undefined) await bodyOf(stalling);
    for (const client of fast) expect((await rest(client)).equals(content)).toBe(true);
    await sent;
    expect((await slow.rest()).equals(content)).toBe(true);
    expect(of.asked).toHaveLength(1);
  });

  test('without a known length, waiting clients get the answer once it is whole, however slowly the first client reads', async () => {
    const { of, store, one, first, others } = await asked(4);
    await using _ = store;
    const content = contentOf(FITS);
    one.head(200, FRESH);
    one.sink.write(content.subarray(0, 1000));
    const slow = await slowly(first);
    await slow.next();
    const waiting = Promise.race(others.map(({ answered }) => answered.then(() => 'answered')));
    expect(await Promise.race([waiting, settled().then(() => 'waits')])).toBe('waits');
    await send(one, content.subarray(1000));
    for (const client of others) expect((await rest(client)).equals(content)).toBe(true);
    expect((await slow.rest()).equals(content)).toBe(true);
    expect(of.asked).toHaveLength(1);
  });

  test('if an answer without a known length is too long, each waiting client sends its own request', async () => {
    const { of, store, one, first, others } = await asked(4);
    await using _ = store;
    const content = contentOf(TOO_LONG);
    one.head(200, FRESH);
    const sent = send(one, content);
    const slow = await slowly(first);
    await slow.next();
    for (const each of await own(of, others.length)) {
      each.head(200, FRESH);
      await send(each, content);
    }
    for (const { answered, passed } of others) {
      expect(await answered).toBeUndefined();
      expect(passed.told.slice(1, -1).join('')).toBe(content.toString());
      expect(passed.told.at(-1)).toBe('end');
    }
    expect(one.closed).toBe(false);
    expect((await slow.rest()).equals(content)).toBe(true);
    await sent;
    expect(of.asked).toHaveLength(4);
    first.exchange.close();
  });

  test('for a minute after an answer that was too long, answers of its key are passed on without being stored', async () => {
    const { of, store, one, first } = await asked(1);
    await using _ = store;
    const content = contentOf(TOO_LONG);
    one.head(200, FRESH);
    const sent = send(one, content);
    expect((await rest(first)).equals(content)).toBe(true);
    await sent;
    first.exchange.close();
    await eventually(() => expect(store.stats().octets).toBe(0));

    const next = of.ask();
    const [passed] = await own(of, 1);
    passed?.head(200, FRESH);
    expect(next.passed.told).toEqual(['begin 200']);
    expect(store.stats().octets).toBe(0);
    passed?.sink.end([]);

    of.clock.advance(60);
    const later = of.ask();
    const [, short] = await own(of, 2);
    short?.head(200, FRESH);
    short?.sink.write(Buffer.from('short'));
    short?.sink.end([]);
    expect((await rest(later)).toString()).toBe('short');
    await eventually(() => expect(store.stats().entries).toBe(1));
  });
});

test('a client that waits for an answer that breaks off sends its own request', async () => {
  const of = testCache();
  const [first, other] = [of.ask(), of.ask()];
  await settled();
  const [one] = of.asked;
  one?.head(200, FRESH);
  one?.sink.write(Buffer.from('ab'));
  const broken = expect(rest(first)).rejects.toThrow('broke off');
  await settled();
  one?.sink.breakOff();
  await broken;
  await settled();
  const [, second] = of.asked;
  second?.head(200, FRESH);
  second?.sink.write(Buffer.from('abcd'));
  second?.sink.end([]);
  expect(await other.text()).toBe('abcd');
});
