import { counted } from '#shared/base/counted.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { loadConfig } from '#shared/config/load.ts';
import { readProcess } from '#shared/stores/cache/process-report.ts';
import { spreadRedis } from '#shared/stores/redis/spread.ts';
import { type Command, Failure } from '../arguments/command.ts';

export const redisSpread: Command = {
  name: 'redis spread',
  summary:
    'move the keys of an older store to many slots of Redis Cluster; all servers must be stopped',
  operands: [],
  details: [
    'A store that a version before schema 14 made has people, their keys and their mail in one slot, so that one shard has',
    'all of them. Before schema 13 that holds for tokens, sign-ins, grants and clients, too. A newer store has 64 slots from',
    'its beginning. This moves an older store there. Nothing ends: people stay signed in, and tokens stay good.',
    'Stop all servers first. The command waits ten seconds, in case that one was starting. After an interruption, run it',
    'again: no server starts on half a move. From then on no older version starts on this store.',
  ],
  run: async (_, shell) => {
    const { store } = await loadConfig(shell.env);
    if (store.kind !== 'redis') {
      throw new Failure('the state is in the embedded store, which has no slots');
    }
    let begun = false;
    const spreading = spreadRedis(store, {
      random: systemRandom,
      log: silentLog,
      async refuse(reports) {
        const processes = [...(await reports.all()).values()].map(readProcess);
        const running = processes.filter((process) => process && !process.ended).length;
        if (running === 0) return;
        throw new Failure(
          `${counted(running, 'server process', 'server processes')} reported within the last minute: stop all servers first. A process that was killed is forgotten after a minute`,
        );
      },
      wait: (milliseconds) => {
        shell.note('From now on no server starts. Looking for one that was starting');
        return shell.wait(milliseconds);
      },
      tell(keys) {
        begun = true;
        shell.note(`${counted(keys, 'key')} moved so far`);
      },
    });
    const moved = await spreading.catch((error: unknown) => {
      if (begun) shell.note('Not all keys are moved, and no server starts: run the command again');
      throw error;
    });
    if (moved === undefined) {
      return {
        json: { moved: 0 },
        lines: [
          `The store with the prefix ${store.prefix} has many slots already. Nothing was moved.`,
        ],
      };
    }
    return {
      json: { moved },
      lines: [`Moved ${counted(moved, 'key')}. Start the servers.`],
    };
  },
};
