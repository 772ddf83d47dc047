import { configSchema } from '#shared/config/schema.ts';
import { leasedFeed } from '#shared/guard/leased-feed.ts';
import type { RevocationPage } from '#shared/guard/revocation-page.ts';
import { silentLog } from '#shared/base/log.ts';
import { acknowledged } from '#shared/stores/revocation/acknowledged.ts';
import type { RevocationFeed, Revocations } from '#shared/stores/revocation/revocations.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { readCursor } from '../../authz-server/revocations/cursor.ts';
import { Followed } from '../../authz-server/revocations/followed.ts';
import type { Dice } from '../attacks/dice.ts';
import type { Network, Place } from './network.ts';
import type { SimulatedStore } from './simulated-store.ts';
import type { Machine } from './simulated-time.ts';

/** A process of the authorization server: the product's own code with a simulated clock, store and network. */
export interface SimulatedProcess {
  readonly machine: Machine;
  readonly followed: Followed;
  readonly revocations: Pick<Revocations, 'revoke' | 'raise'>;
}

/** The settings `lease` and `hold` in seconds. */
export interface Times {
  readonly lease: number;
  readonly hold: number;
}

export function simulatedProcess(
  machine: Machine,
  store: SimulatedStore,
  times: Times,
  roll: Dice,
): SimulatedProcess {
  const { clock, timers } = machine;
  const followers = store.followersOf(machine);
  const revocations = acknowledged(store.revocationsOf(machine) as Revocations, {
    followers,
    lease: times.lease * 1000,
    monotonic: () => clock.monotonic(),
    timers,
  });
  let cursor = '0';
  // The feed remembers its questions, as PostgreSQL's feed does.
  const feed = {
    latest: async () => void (cursor = store.heardUpTo()),
    status: () => ({ cursor }),
  } as unknown as RevocationFeed;
  const parts = {
    config: configSchema.parse({ issuer: 'https://as.example', revocations: times }),
    stores: { followers } as Stores,
    feed,
    clock,
    random: (bytes: number) => Buffer.from(Array.from({ length: bytes }, () => roll(256))),
    log: silentLog,
  };
  return { machine, followed: new Followed(parts, timers), revocations };
}

/** A remote server that follows the revocations. */
export interface SimulatedFollower extends Place {
  readonly feed: RevocationFeed;
}

export interface Following {
  readonly network: Network;
  readonly client: string;
  /** The longest time in seconds for which a poll is held. */
  readonly hold: number;
  /**
   * The part of an answer's lease for which the follower trusts it. More than 1 is a fault that the test
   * must find.
   */
  readonly trusts: number;
  /** The process for the next request; another one after a failure. */
  process(failed: boolean): SimulatedProcess;
}

export function simulatedFollower(
  place: Place,
  { network, client, hold, trusts, process }: Following,
): SimulatedFollower {
  const { machine } = place;
  let failed = false;

  function ask(after: string | undefined, wait: number, signal: AbortSignal) {
    const { promise, resolve, reject } = Promise.withResolvers<RevocationPage>();
    const gone = new AbortController();
    const asked = process(failed);
    let done = false;
    const end = (settle: () => void, isFailure: boolean) => () => {
      done = true;
      failed = isFailure;
      settle();
    };
    const leave = () => {
      if (done) return;
      end(() => reject(signal.reason), true)();
      network.carry(place, asked.machine, () => gone.abort());
    };
    signal.addEventListener('abort', leave, { once: true });
    network.carry(place, asked.machine, () => {
      const position = after === undefined ? undefined : readCursor(after);
      const held = Math.min(wait, hold) * 1000;
      asked.followed.tell({ client, after: position, wait: held, gone: gone.signal }).then(
        (page) => {
          const told = { ...page, lease: page.lease * trusts };
          network.carry(
            place,
            machine,
            end(() => resolve(told), false),
          );
        },
        (error: unknown) =>
          network.carry(
            place,
            machine,
            end(() => reject(error), true),
          ),
      );
    });
    return promise;
  }
  const { clock, timers } = machine;
  return { ...place, feed: leasedFeed({ ask, clock, log: silentLog, timers }) };
}
