import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Order } from './racer.ts';
import type { StoreSpec } from '../store-under-test.ts';

export interface Racer extends AsyncDisposable {
  carryOut(order: Order): Promise<unknown[]>;
}

/** Starts racer.ts; resolves when it has opened the store. */
export async function startRacer(spec: StoreSpec): Promise<Racer> {
  const child = fork(join(import.meta.dirname, 'racer.ts'), [JSON.stringify(spec)], {
    execPath: process.execPath,
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const exit = once(child, 'exit');
  const reply = async (): Promise<unknown> => {
    const [message] = (await Promise.race([
      once(child, 'message'),
      exit.then(([code]) => Promise.reject(new Error(`the racer ended with ${String(code)}`))),
    ])) as [unknown];
    return message;
  };
  await reply();
  return {
    carryOut: async (order) => {
      child.send(order);
      const answer = (await reply()) as { results: unknown[] } | { error: string };
      if ('error' in answer) throw new Error(answer.error);
      return answer.results;
    },
    [Symbol.asyncDispose]: async () => {
      child.disconnect();
      await exit;
    },
  };
}
