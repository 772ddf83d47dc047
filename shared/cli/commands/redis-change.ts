import { loadConfig } from '#shared/config/load.ts';
import { changeRedis } from '#shared/stores/postgres/told.ts';
import { type Command, Failure } from '../arguments/command.ts';

export const redisChange: Command = {
  name: 'redis change',
  summary: 'let all servers of a store in PostgreSQL use Redis, or none; all must be stopped',
  operands: [],
  details: [
    'The configuration decides: with `store.redis` the servers use Redis from now on, under its prefix; without it they',
    'use none. Until you run the command, a server with a differing configuration does not start, since its revocations',
    'would not reach the other servers.',
    'Without Redis no server knows the proofs that only Redis recorded as used: wait for 15 minutes before you start.',
  ],
  run: async (_, shell) => {
    const { store } = await loadConfig(shell.env);
    if (store.kind !== 'postgres')
      throw new Failure('the store is no PostgreSQL: nothing to change');
    const uses = store.redis !== undefined;
    try {
      await changeRedis(store);
    } catch (error) {
      throw new Failure(`cannot change it: ${(error as Error).message}`);
    }
    return {
      json: { redis: uses },
      lines: [
        `All servers of the schema ${store.schema} use ${uses ? 'Redis from now on' : 'no Redis from now on; start them in a quarter of an hour'}.`,
      ],
    };
  },
};
