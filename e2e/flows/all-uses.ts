/** Uses all functions of the servers at once during an outage. Throws AssertionError. */
import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PostgresSettings } from '#shared/stores/settings.ts';
import { until } from '../parts/process.ts';
import { administering } from './administering.ts';
import { approving, proving, Refused, revoking, rotating, writing } from './failover-uses.ts';
import type { Kind, Part } from './failover-uses.ts';
import { LIMITS, startFlow } from './flow.ts';
import type { Flow } from './flow.ts';
import { addDevice, App, newPerson } from './person.ts';

/** Counts of acknowledged writes by kind, and of requests that were refused or broken off. */
export interface Tally extends Record<Kind, number> {
  runs: number;
  refused: number;
}

export const noUses = (): Tally => ({
  runs: 0,
  refused: 0,
  changes: 0,
  revocations: 0,
  documents: 0,
  proofs: 0,
  codes: 0,
  rotations: 0,
  devices: 0,
});

const DOCUMENTS = 8;
const CHAINS = 2;
const UNLIMITED = { burst: 1_000_000, per: 0.001 };
const PEOPLE = { userCode: UNLIMITED, signIn: UNLIMITED, account: UNLIMITED };

/** Starts two of each server on this store. */
export const startServers = (store: PostgresSettings): Promise<Flow> =>
  startFlow({
    store,
    authz: 2,
    resource: 2,
    settings: { limits: { ...LIMITS, ...PEOPLE }, tokens: { refreshGrace: 0 } },
  });

/** Error pages say 503 in these words, too. */
const isRefusal = (error: unknown) =>
  error instanceof Refused || /^(no tokens: |signing in gave )?503/.test((error as Error).message);

/** Whether `fetch` or supertest reports a broken connection with this error. */
const isBrokenOff = (error: unknown) =>
  (error instanceof TypeError && error.cause !== undefined) ||
  /ECONNREFUSED|ECONNRESET|EPIPE|socket hang up/.test((error as Error).message);

/**
 * Starts all uses, which repeat until `finish`. Each acknowledged write is added to the tally.
 * `mayBreakOff`: a connection to a server may break off.
 */
export async function startUses(flow: Flow, tally: Tally, { mayBreakOff = false } = {}) {
  const { pair } = flow;
  const run = randomUUID();
  const client = await pair.addClient();
  const writer = await pair.token(client);
  const anyAuthz = () => randomInt(pair.authz.length);
  const anyResource = () => randomInt(pair.resources.length);

  const revocations = await revoking(flow, client, anyAuthz);
  const documents = Array.from({ length: DOCUMENTS }, (_, n) =>
    writing(flow, `/documents/${run}-${n}`, writer, anyResource),
  );
  const proofs = await proving(flow, client, anyResource);
  const person = await newPerson(flow);
  const app = await App.add(flow);
  const chains: Part[] = [];
  while (chains.length < CHAINS) {
    chains.push(rotating(flow, app, anyAuthz));
  }
  const devices = approving(flow, await addDevice(flow), person, anyAuthz);

  const end = new AbortController();
  /** How often each use has run since the last reset. */
  let done: number[] = [];
  const repeat = async ({ work, refused }: Part, index: number) => {
    while (!end.signal.aborted) {
      try {
        for (const kind of await work()) tally[kind] += 1;
        done[index] = (done[index] ?? 0) + 1;
      } catch (error) {
        if (!isRefusal(error) && !(mayBreakOff && isBrokenOff(error))) throw error;
        tally.refused += 1;
        refused?.();
        await sleep(50);
      }
    }
  };
  const changes = await administering(flow, anyAuthz);
  const parts = [changes, revocations, ...documents, proofs, ...chains, devices];
  const running = Promise.all(parts.map(repeat));
  // `goesOn` and `finish` report the error.
  running.catch(() => end.abort());

  return {
    /** Resolves when each use has run twice from now on. Rejects with the error of a use that has failed. */
    async goesOn() {
      done = [];
      await until(() => end.signal.aborted || parts.every((_, index) => (done[index] ?? 0) >= 2));
      if (end.signal.aborted) await running;
    },
    /**
     * Ends all uses, and reads back all acknowledged writes; one resource server starts with an empty
     * cache.
     */
    async finish() {
      end.abort();
      await running;
      const [restarted] = pair.resources;
      await restarted?.kill();
      await restarted?.start();
      for (const part of parts) await part.keeps();
      for (const part of parts) await part.refuses();
      tally.runs += 1;
    },
  };
}
