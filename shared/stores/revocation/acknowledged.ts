import { systemTimers, type Timers } from '#shared/base/timers.ts';
import type { FollowedProcess, Followers, Following } from './followers.ts';
import { outlasted } from './lease.ts';
import type { Revocations } from './revocations.ts';

/** Milliseconds between two looks at the followers. */
const PAUSE = 4;

interface Waiter {
  /** The first look after the revocation was written: its entry is at or before `last` in that epoch. */
  first?: Pick<Following, 'epoch' | 'last'> & {
    /** Milliseconds of a clock that no program sets. */
    readonly at: number;
  };
  resolve(): void;
  reject(error: unknown): void;
}

export interface AcknowledgedOptions {
  readonly followers: Followers;
  /** Milliseconds: the lease of followers of an earlier epoch, of which no row is left. */
  readonly lease: number;
  monotonic(): number;
  /** Default: the timers of the system. */
  readonly timers?: Pick<Timers, 'sleep'>;
}

/**
 * Wraps revocations: they resolve when no follower trusts what was revoked (docs/explanation/followers.md). Each
 * process with followers has then written that they have the revocation, or has written nothing for longer than their
 * lease. A wait ends after `outlasted(lease)`: any later answer has the revocation. All callers wait together. Without
 * followers it is one look.
 */
export function acknowledged(revocations: Revocations, options: AcknowledgedOptions): Revocations {
  const wait = untilFollowed(options);
  let waitedIn: string | undefined;
  return {
    ...revocations,
    async revoke(...what) {
      await revocations.revoke(...what);
      await wait();
    },
    async raise(...what) {
      const generation = await revocations.raise(...what);
      await wait();
      return generation;
    },
    async untilKnown() {
      await revocations.untilKnown();
      await wait();
    },
    async epoch(create) {
      const known = await revocations.epoch(create);
      if (create && known !== waitedIn) {
        waitedIn = known;
        // Then no later revocation must wait for followers of an earlier epoch.
        wait().catch(() => (waitedIn = undefined));
      }
      return known;
    },
  };
}

/** Returns a function that resolves when no follower trusts what was revoked before the call. */
export function untilFollowed({
  followers,
  lease,
  monotonic,
  timers = systemTimers,
}: AcknowledgedOptions): () => Promise<void> {
  const waiting = new Set<Waiter>();
  /** The last row of each process, and the time when it was first seen. */
  const seen = new Map<string, { readonly row: FollowedProcess; readonly since: number }>();
  let looking = false;

  /** Notes the time of each new row, and forgets the rows that are gone. */
  function observe(processes: readonly FollowedProcess[], now: number): void {
    const ids = new Set(processes.map(({ id }) => id));
    for (const id of seen.keys()) if (!ids.has(id)) seen.delete(id);
    for (const row of processes) {
      if (seen.get(row.id)?.row.beat !== row.beat) seen.set(row.id, { row, since: now });
    }
  }

  const isSilent = ({ id, lease: its }: FollowedProcess, now: number) =>
    now - (seen.get(id)?.since ?? now) > outlasted(its);

  function isDone(waiter: Waiter, following: Following, now: number): boolean {
    const { epoch, last, settled, processes } = following;
    const first = (waiter.first ??= { epoch, last, at: now });
    const waited = now - first.at;
    const position = first.epoch === epoch ? first.last : last;
    if (!settled && waited <= outlasted(lease)) return false;
    return processes.every(
      (row) => row.confirmed >= position || waited > outlasted(row.lease) || isSilent(row, now),
    );
  }

  async function look(): Promise<void> {
    const present = [...waiting];
    const following = await followers.look();
    const now = monotonic();
    const { epoch, settled, processes } = following;
    observe(processes, now);
    const done = present.filter((waiter) => isDone(waiter, following, now));
    // In an unsettled epoch, a wait has ended only by time.
    if (!settled && done.length > 0) await followers.settle(epoch);
    for (const row of processes) if (isSilent(row, now)) await followers.remove(row);
    for (const waiter of done) {
      waiting.delete(waiter);
      waiter.resolve();
    }
  }

  async function run(): Promise<void> {
    looking = true;
    try {
      for (;;) {
        await look();
        if (waiting.size === 0) return;
        await timers.sleep(PAUSE);
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error);
      waiting.clear();
    } finally {
      looking = false;
    }
  }

  return () =>
    new Promise((resolve, reject) => {
      waiting.add({ resolve, reject });
      if (!looking) void run();
    });
}
