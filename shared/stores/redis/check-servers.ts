import type { RedisSettings } from '../settings.ts';
import type { Log } from '#shared/base/log.ts';
import { within } from '#shared/base/within.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { type Ask, forbiddenBy, lackingOn } from './permissions.ts';
import { notOpened, plain } from './connection/plain.ts';
import type { Topology } from './connection/topology.ts';

/** Least milliseconds for an answer at the start, when no client waits for us. */
const PATIENCE = 10_000;

export const patienceAtStart = ({ deadline }: Pick<RedisSettings, 'deadline'>) =>
  Math.max(PATIENCE, 1000 * deadline);

/** Most seconds for which a master may count a silent replica. */
const LAG = 10;

/** Rejects with the reason if Redis evicts keys or lacks permissions; `StoreUnavailable` if it does not answer. */
export async function checkServers(
  topology: Topology,
  config: RedisSettings,
  log: Log,
): Promise<void> {
  const { mode, replicas } = config;
  const reached = reaching(config);
  if (mode !== 'single' && replicas === 0) {
    log.warn('redis.replicas', {
      reason:
        'store.redis.replicas is 0: a master that is cut off goes on, and a proof may be good there once more; set it to 1 or more',
    });
  }
  const life = new AbortController();
  try {
    const masters = await reached(topology.masters(life.signal));
    await Promise.all(
      masters.map((master) =>
        checkMaster((...command) => reached(master.send('', command)), config),
      ),
    );
  } finally {
    life.abort();
  }
}

type Reached = <T>(work: Promise<T>) => Promise<T>;

function reaching(config: RedisSettings): Reached {
  const milliseconds = patienceAtStart(config);
  const [url = ''] = config.mode === 'single' ? config.urls : [];
  return async (work) => {
    try {
      return await within(milliseconds, work);
    } catch (error) {
      const forbidden = forbiddenBy(error);
      if (forbidden !== undefined) throw new Error(forbidden, { cause: error });
      throw url === ''
        ? new StoreUnavailable(plain(error), { cause: error })
        : notOpened(url, error);
    }
  };
}

async function checkMaster(ask: Ask, { prefix, replicas }: RedisSettings): Promise<void> {
  const lacking = await lackingOn(ask, `{${prefix}}:told`);
  if (lacking !== undefined) throw new Error(lacking);
  const info = await ask<string>('INFO', 'memory');
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
  if (policy !== 'noeviction') {
    throw new Error(
      `Redis has maxmemory-policy ${policy}: it would forget revocations when its memory is full; set it to noeviction`,
    );
  }
  if (replicas > 0) await checkReplicas(ask, replicas);
}

/** A master that is cut off from its replicas must stop by itself: it cannot know that it was replaced. */
async function checkReplicas(ask: Ask, replicas: number): Promise<void> {
  // Without the permission for CONFIG, nothing can be checked.
  const answer = await ask<string[]>('CONFIG', 'GET', 'min-replicas-*').catch(() => undefined);
  if (answer === undefined) return;
  const [write, lag] = ['min-replicas-to-write', 'min-replicas-max-lag'].map(
    (name) => answer[answer.indexOf(name) + 1],
  );
  if (Number(write) >= replicas && Number(lag) >= 1 && Number(lag) <= LAG) return;
  throw new Error(
    `Redis has min-replicas-to-write ${write} and min-replicas-max-lag ${lag}: a master that is divided from its replicas would go on writing what is lost; set them to ${replicas} (store.redis.replicas) or more and to 1 to ${LAG}, at the replicas as well`,
  );
}
