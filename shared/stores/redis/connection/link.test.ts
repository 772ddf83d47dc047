/** @slow */
import { describe, expect, test } from '@jest/globals';
import { silentLog } from '#shared/base/log.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { eventually } from '../../contract/eventually.ts';
import { MOST_WAITING } from '../../outage/waiting.ts';
import { Link } from './link.ts';
import type { Wire } from './topology.ts';

/** A server whose answers the test defines. It counts its connections. */
function server(answer: (command: string) => Promise<unknown>) {
  const wires: { open: boolean; life: AbortSignal }[] = [];
  const open = async (life: AbortSignal): Promise<Wire> => {
    life.throwIfAborted();
    const wire = {
      open: true,
      life,
      send: async <T>(_key: string, [name = '']: readonly string[]) => (await answer(name)) as T,
      owner: async (): Promise<Wire> => wire,
    };
    wires.push(wire);
    return wire;
  };
  return { wires, open };
}

/** Milliseconds. */
const DEADLINE = 1000;

const never = () => new Promise<never>(() => {});
const ping = (link: Link) => link.use((wire) => wire.send<string>('', ['PING']));

describe('a link', () => {
  test('is one connection, opened by the first of many commands', async () => {
    const { wires, open } = server(async () => 'PONG');
    using link = new Link(open, silentLog, DEADLINE);
    expect(wires).toHaveLength(0);
    const answers = await Promise.all(Array.from({ length: 50 }, () => ping(link)));
    expect(new Set(answers)).toEqual(new Set(['PONG']));
    expect(wires).toHaveLength(1);
  });

  test('that cannot be opened is StoreUnavailable, and is opened again later', async () => {
    const openings = [
      () => Promise.reject(new Error('ECONNREFUSED')),
      never,
      server(async () => 'PONG').open,
    ];
    let opened = 0;
    using link = new Link((life) => (openings[opened++] ?? never)(life), silentLog, DEADLINE);
    await expect(ping(link)).rejects.toMatchObject({
      name: 'StoreUnavailable',
      cause: new Error('ECONNREFUSED'),
    });
    // The link does not connect again until the pause is over.
    await expect(ping(link)).rejects.toBeInstanceOf(StoreUnavailable);
    expect(opened).toBe(1);
    await eventually(async () => expect(await ping(link)).toBe('PONG'));
    expect(opened).toBe(3);
  });

  test('logs once that it fails, however often it is tried', async () => {
    const lines: unknown[] = [];
    const error = (event: string, fields?: object) => void lines.push([event, fields]);
    const open = () => Promise.reject(new Error('ECONNREFUSED'));
    using link = new Link(open, { ...silentLog, error }, DEADLINE);
    let opened = 0;
    await eventually(async () => {
      await expect(ping(link)).rejects.toBeInstanceOf(StoreUnavailable);
      opened += 1;
      expect(opened).toBeGreaterThan(3);
    });
    expect(lines).toEqual([['store.failing', { part: 'Redis', reason: 'Redis: ECONNREFUSED' }]]);
  });

  test('is replaced after an error; the old connection may still answer its requests', async () => {
    const slow = Promise.withResolvers<string>();
    const { wires, open } = server((name) =>
      name === 'SLOW' ? slow.promise : Promise.reject(new Error(`READONLY ${name}`)),
    );
    using link = new Link(open, silentLog, DEADLINE);
    const waiting = link.use((wire) => wire.send<string>('', ['SLOW']));
    await expect(ping(link)).rejects.toBeInstanceOf(StoreUnavailable);
    await eventually(async () => {
      await ping(link).catch(() => {});
      expect(wires.length).toBeGreaterThan(1);
    });
    slow.resolve('done');
    expect(await waiting).toBe('done');
    await eventually(() => expect(wires[0]?.life.aborted).toBe(true));
  });

  test('stays open if a Cluster refuses keys whose slot is moving, since nothing was done', async () => {
    let moving = true;
    const { wires, open } = server(async () => {
      if (moving) throw new Error('TRYAGAIN Multiple keys request during rehashing of slot');
      return 'PONG';
    });
    using link = new Link(open, silentLog, DEADLINE);
    await expect(ping(link)).rejects.toMatchObject({ name: 'StoreUnavailable', refused: true });
    moving = false;
    expect(await ping(link)).toBe('PONG');
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(await ping(link)).toBe('PONG');
    expect(wires).toHaveLength(1);
  });

  test('has a limit of waiting commands: further commands are refused at once, and the connection stays open', async () => {
    const answer = Promise.withResolvers<unknown>();
    const { wires, open } = server(() => answer.promise);
    using link = new Link(open, silentLog, 60_000);
    const waiting = Array.from({ length: MOST_WAITING }, () => ping(link));
    await expect(ping(link)).rejects.toMatchObject({ message: expect.stringMatching(/too many/) });
    answer.resolve('PONG');
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['PONG']));
    expect(await ping(link)).toBe('PONG');
    expect(wires).toHaveLength(1);
  });

  test('that the other side has closed is replaced before the next command', async () => {
    const { wires, open } = server(async () => 'PONG');
    using link = new Link(open, silentLog, DEADLINE);
    await ping(link);
    const [first] = wires;
    if (first !== undefined) first.open = false;
    expect(await ping(link)).toBe('PONG');
    expect(wires).toHaveLength(2);
  });

  test('ends all its connections when it is disposed of, and opens no other', async () => {
    const { wires, open } = server(async () => 'PONG');
    const link = new Link(open, silentLog, DEADLINE);
    await ping(link);
    link[Symbol.dispose]();
    expect(wires[0]?.life.aborted).toBe(true);
    await eventually(async () => {
      await expect(ping(link)).rejects.toBeInstanceOf(StoreUnavailable);
      expect(wires).toHaveLength(1);
    });
  });
});
