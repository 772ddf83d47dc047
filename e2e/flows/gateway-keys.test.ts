import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Flow, startFlowOn, STORE_KINDS } from './flow.ts';

const PROCESSES = 10;

describe.each(STORE_KINDS)('on %s: the keys of the gateway', (kind) => {
  let flow: Flow;
  beforeAll(async () => {
    flow = await startFlowOn(kind);
  });
  afterAll(async () => flow?.[Symbol.asyncDispose]());

  test('ten processes that start at once make one key, and all sign with it', async () => {
    const children = Array.from({ length: PROCESSES }, () =>
      fork(join(import.meta.dirname, 'gateway-keys-starter.ts'), [], {
        env: { ...flow.pair.env },
        execArgv: ['--disable-warning=ExperimentalWarning'],
      }),
    );
    const ended = children.map((child) => once(child, 'exit'));
    /** Returns the next line of each process; undefined if the process ended. */
    const next = () =>
      Promise.all(
        children.map(async (child, n) => {
          const message: unknown[] = await Promise.race([
            once(child, 'message'),
            ended[n]?.then(() => []) ?? [],
          ]);
          return message[0];
        }),
      );
    expect(new Set(await next())).toEqual(new Set(['ready']));
    const told = next();
    for (const child of children) child.send('go');
    const kids = new Set(await told);
    const stored = (await flow.stores.gatewayKeys.list()).map(({ kid }) => kid);
    expect(stored).toHaveLength(1);
    expect(kids).toEqual(new Set(stored));
    expect(await Promise.all(ended)).toEqual(children.map(() => [0, null]));
  });
});
