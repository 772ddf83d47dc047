/** @slow */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import type { LogFields } from '#shared/base/log-fields.ts';
import { systemRandom } from '#shared/base/random.ts';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { StoreUnavailable } from '../../outage/unavailable.ts';
import { recordOf } from '../file/mark.ts';
import { readWal } from '../file/wal.ts';
import { storeFolder } from '../folder.fixture.ts';
import { openSqlite } from '../open.ts';
import { STATE } from '../schema/state.ts';

const ROUNDS = 3;
/** Bytes of the header of a WAL, and of a frame: its header and a page. */
const [HEADER, FRAME] = [32, 24 + 4096];

let folder: string;
beforeEach(async () => {
  folder = await storeFolder();
});
const inStore = (name: string) => join(folder, name);
const WAL = `${STATE.file}-wal`;
const MARK = `${STATE.file}.mark`;
/** The WAL up to its last commit. The rest is reserved room. */
const heldWal = () =>
  readFileSync(inStore(WAL)).subarray(0, HEADER + (readWal(inStore(WAL))?.good ?? 0) * FRAME);

interface Revoker extends AsyncDisposable {
  readonly child: ChildProcess;
  /** The lines that the process has printed. */
  readonly lines: readonly string[];
}

/** Starts revoker.fixture.ts; resolves when it has written all rows. */
async function startRevoker(): Promise<Revoker> {
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      join(import.meta.dirname, 'revoker.fixture.ts'),
      folder,
      String(ROUNDS),
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const exit = once(child, 'exit');
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  const closed = once(reader, 'close');
  const ready = new Promise<void>((resolve) => {
    reader.on('line', (line) => {
      lines.push(line);
      if (line === 'ready') resolve();
    });
  });
  await Promise.race([ready, exit]);
  expect(lines).toContain('ready');
  return {
    child,
    lines,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await Promise.all([exit, closed]);
    },
  };
}

const startAndKill = async () => (await startRevoker())[Symbol.asyncDispose]();

/** Opens the store, and returns which acknowledged rows it has. `before`: the epoch of the tokens. */
async function opened(at: string, before = '') {
  const logged: [string, LogFields | undefined][] = [];
  const note = (event: string, fields?: LogFields) => void logged.push([event, fields]);
  const log = { info: note, warn: note, error: note };
  const clock = new ManualClock();
  await using stores = await openSqlite({ folder: at, clock, random: systemRandom, log });
  const epoch = await stores.revocations.epoch(true);
  await using feed = await stores.revocations.feed();
  const clients = await stores.clients.list();
  const { texts } = await stores.audit.open();
  const numbers = Array.from({ length: ROUNDS }, (_, n) => n);
  const isGood = (jti: string) => {
    const claims = { jti, kid: '', sub: '', client_id: '', client_gen: 0, epoch: before };
    return feed.current().revokedBy(claims) === undefined;
  };
  return {
    logged: logged.map(([event]) => event),
    events: texts.map((text) => (JSON.parse(text) as { kind: string }).kind),
    epoch: epoch ?? '',
    lostClients: ROUNDS - clients.length,
    goodTokens: numbers.filter((n) => isGood(`token ${n}`)),
  };
}

/** Copies the store as a killed process has left it. */
async function copied(): Promise<string> {
  const copy = join(await temporaryFolder(), 'data');
  mkdirSync(copy);
  for (const name of readdirSync(folder)) copyFileSync(inStore(name), join(copy, name));
  return copy;
}

const flipped = (at: number) => (bytes: Buffer) => {
  bytes[at] = Number(bytes[at]) ^ 1;
  return bytes;
};

/** Each way in which a frame that begins at an offset is damaged. */
const DAMAGES: Readonly<Record<string, (at: number) => (bytes: Buffer) => Buffer>> = {
  'a byte of its header': (at) => flipped(at + 2),
  'a byte of its salt': (at) => flipped(at + 9),
  'a byte of its page': (at) => flipped(at + 24 + 4000),
  'a cut before it': (at) => (bytes) => bytes.subarray(0, at),
  'a cut within it': (at) => (bytes) => bytes.subarray(0, at + 500),
  zeros: (at) => (bytes) => bytes.fill(0, at, at + FRAME),
};

async function epochIn(at: string): Promise<string> {
  return (await opened(at)).epoch;
}

test.each(Object.keys(DAMAGES))(
  'if %s damages any frame of the WAL of a killed process, no revoked token is accepted, and each loss is reported',
  async (how) => {
    {
      await using revoker = await startRevoker();
      expect(revoker.lines).toEqual(['ready']);
    }
    const whole = heldWal();
    const frames = (whole.length - HEADER) / FRAME;
    expect(frames).toBeGreaterThan(2 * ROUNDS);
    const epoch = await epochIn(await copied());
    const offsets = Array.from({ length: frames }, (_, n) => HEADER + n * FRAME);
    for (const at of offsets) {
      const copy = await copied();
      writeFileSync(join(copy, WAL), DAMAGES[how]?.(at)(Buffer.from(whole)) ?? '');
      const found = await opened(copy, epoch);
      expect(found.goodTokens).toEqual([]);
      expect(found.logged).toEqual(['store.damaged']);
      expect(found.events).toEqual(['store.damaged']);
      expect(found.epoch).not.toBe(epoch);
      const again = await opened(copy);
      expect([again.logged, again.epoch]).toEqual([[], found.epoch]);
      rmSync(copy, { recursive: true });
    }
  },
);

test.each<[string, (at: string) => void]>([
  [
    'its header is damaged',
    (at) => {
      writeFileSync(join(at, WAL), flipped(17)(readFileSync(join(at, WAL))));
    },
  ],
  ['it is emptied', (at) => truncateSync(join(at, WAL))],
  ['it is removed', (at) => rmSync(join(at, WAL))],
])('%s: what was acknowledged is missed', async (_, damage) => {
  await startAndKill();
  const epoch = await epochIn(await copied());
  damage(folder);
  const found = await opened(folder, epoch);
  expect(found.logged).toEqual(['store.damaged']);
  expect(found.lostClients).toBe(ROUNDS);
  expect(found.goodTokens).toEqual([]);
});

describe('without the mark, which a power cut may prevent', () => {
  test('damage in an earlier transaction is detected; damage in the last one looks like an incomplete write', async () => {
    await startAndKill();
    rmSync(inStore(MARK));
    const whole = heldWal();
    const commits: number[] = [];
    for (let at = HEADER; at < whole.length; at += FRAME) {
      if (whole.readUInt32BE(at + 4) > 0) commits.push(at);
    }
    const lastBegins = Number(commits.at(-2)) + FRAME;
    for (let at = HEADER; at < whole.length; at += FRAME) {
      const copy = await copied();
      writeFileSync(join(copy, WAL), flipped(at + 24 + 4000)(Buffer.from(whole)));
      const { logged } = await opened(copy);
      expect(logged).toEqual(at < lastBegins ? ['store.damaged'] : []);
      rmSync(copy, { recursive: true });
    }
  });
});

test('damage under a running process that ends regularly: the process reports it, and no revoked token is accepted', async () => {
  const whole = await (async () => {
    await startAndKill();
    return heldWal();
  })();
  const frames = (whole.length - HEADER) / FRAME;
  const before = await epochIn(await copied());
  expect(before).not.toBe('');
  for (let frame = 0; frame < frames; frame += 3) {
    folder = await storeFolder();
    await using revoker = await startRevoker();
    const epoch = await epochIn(await copied());
    const at = HEADER + frame * FRAME + 24 + 4000;
    writeFileSync(inStore(WAL), flipped(at)(readFileSync(inStore(WAL))));
    revoker.child.stdin?.end();
    await once(revoker.child, 'exit');
    expect(revoker.lines).toEqual(['ready', 'store.damaged']);
    const found = await opened(folder, epoch);
    expect(found.goodTokens).toEqual([]);
    expect(found.logged).toEqual([]);
  }
});

test('damage under a running process: another process that starts detects it', async () => {
  await using revoker = await startRevoker();
  expect(revoker.lines).toEqual(['ready']);
  const epoch = await epochIn(await copied());
  const whole = heldWal();
  writeFileSync(inStore(WAL), flipped(whole.length - 90)(whole));
  const found = await opened(folder, epoch);
  expect(found.logged).toEqual(['store.damaged']);
  expect(found.goodTokens).toEqual([]);
});

test('a server does not start with a damaged table: the error says that a backup has to be restored', async () => {
  await using revoker = await startRevoker();
  expect(revoker.lines).toEqual(['ready']);
  const whole = heldWal();
  // The type of the page.
  writeFileSync(inStore(WAL), flipped(whole.length - 4096)(whole));
  await expect(opened(folder)).rejects.toThrow(/restore a backup|malformed/);
});

describe('no damage', () => {
  test('no damage is reported after a process beside others is killed many times', async () => {
    await using other = await startRevoker();
    expect(other.lines).toEqual(['ready']);
    for (let n = 0; n < 3; n += 1) {
      const found = await opened(folder);
      expect([found.logged, found.events]).toEqual([[], []]);
    }
  });

  test('no damage is reported for a copy without the mark, or with an older mark', async () => {
    await startAndKill();
    const copy = await copied();
    rmSync(join(copy, MARK));
    expect((await opened(copy)).logged).toEqual([]);
    writeFileSync(inStore(MARK), readFileSync(inStore(MARK)).subarray(0, 64));
    expect((await opened(folder)).logged).toEqual([]);
  });

  test.each<readonly [string, (path: string) => void, string]>([
    ['a folder', (path) => mkdirSync(path), 'EISDIR'],
    ['a link in a circle', (path) => symlinkSync(path, path), 'ELOOP'],
    [
      'transactions as no store has had',
      (path) => writeFileSync(path, recordOf(2 ** 53 - 1)),
      '9007199254740991',
    ],
  ])(
    'a mark that is, or tells of, %s is an error that names it, and changes nothing',
    async (_, plant, reason) => {
      await startAndKill();
      const state = readFileSync(inStore(STATE.file));
      rmSync(inStore(MARK));
      plant(inStore(MARK));
      for (let times = 0; times < 2; times += 1) {
        const error = await opened(folder).catch((thrown: Error) => thrown);
        expect(error).toBeInstanceOf(StoreUnavailable);
        expect((error as Error).message).toContain(`${inStore(MARK)} is damaged`);
        expect((error as Error).message).toContain(reason);
      }
      expect(readFileSync(inStore(STATE.file)).equals(state)).toBe(true);
      rmSync(inStore(MARK), { recursive: true });
      expect((await opened(folder)).logged).toEqual([]);
    },
  );

  test('the WAL is emptied once no process works', async () => {
    const clock = new ManualClock();
    await using stores = await openSqlite({ folder, clock, random: systemRandom });
    await stores.revocations.revoke('token', 'x', clock.now() + 60_000);
    expect(readWal(inStore(WAL))?.good).toBeGreaterThan(0);
    await stores.sweep();
    expect(readWal(inStore(WAL))).toBeUndefined();
    expect((await opened(folder)).logged).toEqual([]);
  });
});
