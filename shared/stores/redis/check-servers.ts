import type { Log } from '#shared/log.ts';
import { StoreUnavailable } from '#shared/stores/stores.ts';
import type { Topology, Wire } from './topology.ts';
import { within } from './within.ts';

/** Layout of the keys; a change that older code would misread makes it one higher. */
export const SCHEMA = 1;

/** Milliseconds for any answer at the start: nobody waits for an answer of ours yet. */
const PATIENCE = 5000;

/**
 * Refuses a Redis that would forget by itself or that a newer version has written to, with the
 * reason; `StoreUnavailable` when it does not answer.
 */
export async function checkServers(topology: Topology, prefix: string, log: Log): Promise<void> {
  const life = new AbortController();
  try {
    const masters = await reached(topology.masters(life.signal));
    await Promise.all(masters.map((master) => checkMemory(master)));
    await Promise.all(masters.map((master) => checkDurability(master, log)));
    const schema = `{${prefix}}:schema`;
    const owner = await reached(topology.dedicated(schema, life.signal));
    await checkSchema(owner, schema);
  } finally {
    life.abort();
  }
}

async function reached<T>(work: Promise<T>): Promise<T> {
  try {
    return await within(PATIENCE, work);
  } catch (error) {
    throw new StoreUnavailable('Redis cannot be reached', { cause: error });
  }
}

async function checkMemory(master: Wire): Promise<void> {
  const info = await reached(master.send<string>('', ['INFO', 'memory']));
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
  if (policy === 'noeviction') return;
  throw new Error(
    `Redis has maxmemory-policy ${policy}: it would forget revocations when its memory is full; set it to noeviction`,
  );
}

async function checkDurability(master: Wire, log: Log): Promise<void> {
  const asked = reached(master.send<string[]>('', ['CONFIG', 'GET', 'append*']));
  // Where CONFIG is not permitted there is nothing to say.
  const answer = await asked.catch(() => undefined);
  if (answer === undefined) return;
  const setting = (name: string) => answer[answer.indexOf(name) + 1];
  if (setting('appendonly') === 'yes' && setting('appendfsync') === 'always') return;
  log.warn('redis.not-durable', {
    reason: 'without appendonly yes and appendfsync always an acknowledged revocation can be lost',
    appendonly: setting('appendonly'),
    appendfsync: setting('appendfsync'),
  });
}

async function checkSchema(owner: Wire, key: string): Promise<void> {
  await reached(owner.send('', ['SET', key, String(SCHEMA), 'NX']));
  const found = Number(await reached(owner.send<string>('', ['GET', key])));
  if (found > SCHEMA) {
    throw new Error(
      `Redis holds schema ${found}, written by a newer version; this one knows ${SCHEMA}`,
    );
  }
}
