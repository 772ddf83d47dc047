import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import type { Audit } from '#shared/stores/audit/audit.ts';
import { auditInSlots } from '#shared/stores/redis/audit/in-slots.ts';
import { auditStreams } from '#shared/stores/redis/audit/streams.ts';
import type { Commands } from '#shared/stores/redis/connection/connection.ts';
import { interruptedRedis } from '#shared/stores/redis/connection/interrupted.fixture.ts';
import { manySlots } from '#shared/stores/redis/connection/slots.ts';
import { closeOpen } from './close.ts';
import { keyOf, textOf } from './entry.ts';
import { listEvents } from './list.ts';
import { macKey } from './mac.ts';
import { endOld } from './retention.ts';
import { verifyLog } from './verify.ts';

const key = macKey(Buffer.alloc(32, 7));
const DAY = 86_400_000;
const BEGIN = 1_800_000_000_000;
/** Events before those of a test, so that its link is in two slots. */
const BEFORE = 1020;

let place: Awaited<ReturnType<typeof interruptedRedis>>;
let prefixes = 0;
beforeAll(async () => {
  place = await interruptedRedis();
});
afterAll(async () => place[Symbol.asyncDispose]());

class Stopped extends Error {}

/** A log of its own, with a process that is interrupted and one that is not. */
async function someLog() {
  prefixes += 1;
  const prefix = `cs${prefixes}`;
  const slots = manySlots(prefix);
  const clock = new ManualClock(BEGIN);
  const of = (redis: Commands): Audit =>
    auditInSlots(redis, prefix, auditStreams(prefix, slots.all), slots);
  const [slow, audit] = [of(place.connection), of(place.undisturbed)];
  /** Is stopped once it has committed a link and, perhaps, filed its rows. */
  const stoppedBefore = (step: 'file' | 'show') => {
    let scripts = 0;
    const { undisturbed: redis } = place;
    const durable: Commands['durable'] = async (body, keys, ...args) => {
      if (keys[0].endsWith(':audit:attempt') && step === 'file') throw new Stopped();
      if (keys[0].endsWith(':audit}:head') && (scripts += 1) === 2) throw new Stopped();
      return redis.durable(body, keys, ...args);
    };
    return of({
      command: (name, first, ...args) => redis.command(name, first, ...args),
      script: (body, keys, ...args) => redis.script(body, keys, ...args),
      settled: (first) => redis.settled(first),
      durableCommand: (name, first, ...args) => redis.durableCommand(name, first, ...args),
      durable,
    });
  };
  const commitAlone = async (step: 'file' | 'show') =>
    expect(close(stoppedBefore(step))).rejects.toBeInstanceOf(Stopped);
  const write = async (...names: readonly string[]) => {
    const by = { who: 'operator', how: 'command line' } as const;
    const text = (person: string) => textOf({ kind: 'person.disabled', person }, by, clock.now());
    await audit.append(...names.map(text));
  };
  const close = (by = audit) => closeOpen({ audit: by, key, clock });
  await write(...Array.from({ length: BEFORE }, () => 'before'));
  await close();

  /** Returns the people of all events, and checks that what the slots have is in the links, once, and found by its keys. */
  async function people(): Promise<readonly string[]> {
    expect(await verifyLog(audit, key)).toMatchObject({ ok: true });
    const { events } = await listEvents(audit, {}, { limit: 9999 });
    const seqs = events.map(({ seq }) => seq);
    const [rows, indexed] = [new Set<number>(), new Set<string>()];
    for (const name of await keysOf(`{${prefix}:*}:audit:*`)) {
      if (name.endsWith(':rows')) {
        const found = await place.undisturbed.command<[string, unknown][]>(
          'XRANGE',
          name,
          '-',
          '+',
        );
        for (const [id] of found) rows.add(Number.parseInt(id, 10));
      } else if (name.includes(':by:')) {
        const found = await place.undisturbed.command<string[]>('ZRANGE', name, '0', '-1');
        for (const seq of found) indexed.add(seq);
      }
    }
    expect([...rows].toSorted((a, b) => a - b)).toEqual(seqs);
    expect([...indexed].map(Number).toSorted((a, b) => a - b)).toEqual(seqs);
    expect(await keysOf(`{${prefix}:audit}:*ing`)).toEqual([]);
    const names = events.flatMap((event): string[] => Reflect.get(event, 'person') ?? []);
    for (const person of new Set(names)) {
      const found = await audit.rows({ key: keyOf.person(person), first: 1, last: 9999 }, 9999);
      expect(found).toHaveLength(names.filter((name) => name === person).length);
    }
    return names.filter((name) => name !== 'before');
  }

  return { prefix, clock, audit, slow, write, close, commitAlone, people };
}

async function keysOf(pattern: string): Promise<readonly string[]> {
  const found = await place.redis.cli('KEYS', pattern);
  return found.split('\n').filter(Boolean);
}

type SomeLog = Awaited<ReturnType<typeof someLog>>;

/** All that writes, and a look at what is under way. */
const STEP = /^(?:SCRIPT|XTRIM)/;

/**
 * Does the work anew for each of its steps, with something before that one; `after` is called once it is over. Throws unless
 * there are so many steps at least.
 */
async function atEachStep(
  least: number,
  work: (log: SomeLog) => Promise<unknown>,
  before: (log: SomeLog) => Promise<unknown>,
  after: (log: SomeLog) => Promise<unknown>,
  prepare: (log: SomeLog) => Promise<unknown>,
  each = STEP,
): Promise<void> {
  for (let step = 0; ; step += 1) {
    const log = await someLog();
    await prepare(log);
    const { interruptions } = place.connection;
    for (let n = 0; n < step; n += 1) interruptions.push({ before: each, work: async () => {} });
    interruptions.push({ before: each, work: () => before(log) });
    await work(log).catch((error: unknown) => {
      if (!(error instanceof Stopped)) throw error;
    });
    const isOver = interruptions.length > 0;
    interruptions.length = 0;
    if (isOver) {
      expect(step).toBeGreaterThanOrEqual(least);
      return;
    }
    await after(log);
  }
}

const stop = async () => {
  throw new Stopped();
};
/** An event of today, five days after those before. */
const later = async ({ clock, write, close }: SomeLog) => {
  clock.advance((5 * DAY) / 1000);
  await write('later');
  await close();
  clock.advance((1.5 * DAY) / 1000);
};
const endBefore = (log: SomeLog, audit = log.audit) => endOld({ audit, key, clock: log.clock }, 2);

const PEOPLE = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
/** Look, the marks of the link before, commit, two slots, show, trim, look. */
const CLOSE = 7;

describe('a process that closes the log', () => {
  const closes = ({ slow, close }: SomeLog) => close(slow);
  const prepare = ({ write }: SomeLog) => write(...PEOPLE);

  test('is stopped before any of its steps: the next one goes on, and each event is a row once', async () => {
    const after = async ({ write, close, people }: SomeLog) => {
      await write('next');
      await close();
      // Entries of one millisecond have no order.
      expect((await people()).toSorted()).toEqual([...PEOPLE, 'next']);
    };
    await atEachStep(CLOSE, closes, stop, after, prepare);
  });

  test('stands still before any of its steps while another closes twice: each event is a row once', async () => {
    const before = async ({ write, close }: SomeLog) => {
      await close();
      await write('next');
      await close();
    };
    const after = async ({ close, people }: SomeLog) => {
      await close();
      expect(await people()).toEqual([...PEOPLE, 'next']);
    };
    await atEachStep(CLOSE, closes, before, after, prepare);
  });

  test('stands still before any of its steps while another is stopped within the next link: each event is a row once', async () => {
    const before = async ({ write, close, commitAlone }: SomeLog) => {
      await close();
      await write('next');
      await commitAlone('file');
    };
    const after = async ({ close, people }: SomeLog) => {
      await close();
      expect(await people()).toEqual([...PEOPLE, 'next']);
    };
    await atEachStep(CLOSE, closes, before, after, prepare);
  });

  test('stands still before any of its steps while its link is closed and ended: nothing comes back', async () => {
    const before = async (log: SomeLog) => {
      await log.close();
      await later(log);
      await endBefore(log);
    };
    const after = async ({ close, people }: SomeLog) => {
      await close();
      expect(await people()).toEqual(['later']);
    };
    await atEachStep(CLOSE, closes, before, after, prepare);
  });

  test('is watched at each of its steps: readers see whole links, each event once and in its order', async () => {
    const log = await someLog();
    const seen: number[] = [];
    const look = async () => {
      const [head] = await log.audit.links(undefined, 1);
      const all = await log.audit.rows({ first: 1, last: Number.MAX_SAFE_INTEGER }, 9999);
      expect(all.at(-1)?.seq).toBe(head?.last);
      expect(await verifyLog(log.audit, key)).toMatchObject({ ok: true });
      const page = { limit: 3, after: seen.at(-1) ?? BEFORE };
      const { events } = await listEvents(log.audit, {}, page);
      seen.push(...events.map(({ seq }) => seq));
    };
    await prepare(log);
    const work = async () => {
      await look();
      place.connection.interruptions.push({ before: STEP, work });
    };
    place.connection.interruptions.push({ before: STEP, work });
    await closes(log);
    place.connection.interruptions.length = 0;
    for (let n = 0; n < PEOPLE.length; n += 1) await look();
    expect(seen).toEqual(PEOPLE.map((_, n) => BEFORE + 1 + n));
  });

  describe('stands still before any of its steps while Redis forgets', () => {
    const keysOfHead = ({ prefix }: SomeLog) =>
      ['head', 'links', 'filing'].map((name) => `{${prefix}:audit}:${name}`);
    const remember = async (log: SomeLog) => {
      for (const name of keysOfHead(log)) {
        await place.undisturbed.command('COPY', name, `${name}:former`);
      }
    };
    /** As a server comes back that has not written its last second to its disk. */
    const forget = async (log: SomeLog) => {
      for (const name of keysOfHead(log)) {
        await place.undisturbed.command('DEL', name);
        await place.undisturbed.command('COPY', `${name}:former`, name);
      }
    };
    /** Once a link is shown, and that is on the disk, its open entries are removed. */
    const isShown = async ({ audit }: SomeLog) =>
      (await audit.rows({ key: keyOf.person('h'), first: 1, last: 9999 }, 1)).length > 0;

    test.each([
      ['its link', 0],
      ['its link, and its clock is behind', 1e15],
    ])('%s: another one takes its place', async (_, behind) => {
      const before = async (log: SomeLog) => {
        if (await isShown(log)) return;
        await forget(log);
        for (const name of await keysOf(`{${log.prefix}:?}:audit:attempt`)) {
          const attempt = await place.undisturbed.command<string>('GET', name);
          await place.undisturbed.command('SET', name, String(Number(attempt) + behind));
        }
        await log.write('between');
        await log.close();
      };
      const after = async ({ close, people }: SomeLog) => {
        await close();
        const names = await people();
        expect(names.filter((name) => name !== 'between')).toEqual(PEOPLE);
      };
      const begin = async (log: SomeLog) => {
        await remember(log);
        await prepare(log);
      };
      await atEachStep(CLOSE, closes, before, after, begin);
    });

    test('that the link before was shown: it is shown again', async () => {
      const before = async (log: SomeLog) => {
        if (!(await isShown(log))) await forget(log);
      };
      const after = async ({ close, people }: SomeLog) => {
        await close();
        expect(await people()).toEqual(['next', ...PEOPLE]);
      };
      const begin = async (log: SomeLog) => {
        await log.write('next');
        await log.commitAlone('show');
        await remember(log);
        await log.close();
        await prepare(log);
      };
      await atEachStep(CLOSE, closes, before, after, begin);
    });
  });
});

test('a reader that stands still at any step of a verification sees no row of a link that is being made', async () => {
  const work = async ({ slow }: SomeLog) =>
    expect(await verifyLog(slow, key)).toMatchObject({ ok: true });
  const before = async ({ write, commitAlone }: SomeLog) => {
    await write('a');
    await commitAlone('show');
  };
  // The rows are in slot A.
  const each = /^(?!XRANGE \{cs\d+:[^A]\})/;
  const nothing = async () => {};
  await atEachStep(4, work, before, nothing, nothing, each);
});

describe('a process that ends old days', () => {
  const ends = (log: SomeLog) => endBefore(log, log.slow);
  const prepare = async (log: SomeLog) => {
    await log.write(...PEOPLE);
    await log.close();
    await later(log);
  };
  const after = async (log: SomeLog) => {
    await endBefore(log);
    await log.close();
    expect(await log.people()).toEqual(['later']);
  };

  test('is stopped before any of its steps: the rest verifies, and the next one goes on', async () => {
    const verified = async (log: SomeLog) => {
      expect(await verifyLog(log.audit, key)).toMatchObject({ ok: true });
      await after(log);
    };
    await atEachStep(10, ends, stop, verified, prepare);
  });

  test('stands still before any of its steps while another ends and closes: both are done once', async () => {
    const before = async (log: SomeLog) => {
      expect(await verifyLog(log.audit, key)).toMatchObject({ ok: true });
      await endBefore(log);
      await log.close();
    };
    await atEachStep(10, ends, before, after, prepare);
  });
});
