import { startRedis } from '../../../e2e/parts/redis.ts';
import { until } from '../../../e2e/parts/process.ts';

/** A Redis that is going to lose what it has heard since `remember`, or all. */
export interface Losing extends AsyncDisposable {
  readonly url: string;
  remember(): Promise<void>;
  /** Resolves to the address of the server that is there then. */
  lose(): Promise<string>;
}

/** The ways in which Redis forgets. */
export const LOSSES: readonly (readonly [what: string, start: () => Promise<Losing>])[] = [
  [
    'emptied',
    async () => {
      const redis = await startRedis();
      return {
        url: redis.url,
        remember: async () => {},
        async lose() {
          await redis.cli('FLUSHALL');
          return redis.url;
        },
        [Symbol.asyncDispose]: () => redis[Symbol.asyncDispose](),
      };
    },
  ],
  [
    'started again from an older file',
    async () => {
      const redis = await startRedis();
      return {
        url: redis.url,
        remember: async () => void (await redis.cli('SAVE')),
        async lose() {
          await redis.kill();
          await redis.start();
          return redis.url;
        },
        [Symbol.asyncDispose]: () => redis[Symbol.asyncDispose](),
      };
    },
  ],
  [
    'replaced by a replica without the last moments',
    async () => {
      await using parts = new AsyncDisposableStack();
      const master = parts.use(await startRedis());
      const replica = parts.use(await startRedis({ replicaOf: master.port }));
      const owned = parts.move();
      return {
        url: master.url,
        async remember() {
          const whole = await master.cli('DBSIZE');
          await until(async () => (await replica.cli('DBSIZE')) === whole);
          await replica.cli('REPLICAOF', 'NO', 'ONE');
        },
        async lose() {
          await master.kill();
          return replica.url;
        },
        [Symbol.asyncDispose]: () => owned.disposeAsync(),
      };
    },
  ],
];
