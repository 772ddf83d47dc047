import { KeysUnavailable } from './issuer-keys.ts';
import type { Awaitable } from '#shared/base/awaitable.ts';
import type { Clock } from '#shared/base/clock.ts';

/** The keys that an issuer publishes in one document: fetched when first needed, kept and renewed. */
export interface KeptDocument<Value> {
  /**
   * What `look` finds in the document. Where it finds nothing it looks at a newer one, which is fetched when
   * the document is old, else at most once in each cooldown. Throws `KeysUnavailable` when that cannot be
   * told.
   */
  find<Found>(look: (value: Value) => Found | undefined): Awaitable<Found | undefined>;
  /**
   * Like `find`, but where it finds nothing after a fetch that failed it throws at once, and the next fetch
   * goes on in the background: an issuer that hangs holds up nobody but those who came first.
   */
  findAtOnce<Found>(look: (value: Value) => Found | undefined): Awaitable<Found | undefined>;
  /** Fetches it at once, whatever the cooldown says. */
  renew(): void;
}

export interface Fetched<Value> {
  readonly value: Value;
  /** Seconds after which it is fetched again, in the background. */
  readonly maxAge: number;
}

export interface KeptDocumentOptions<Value> {
  /** Rejects, within seconds, when there is none or nothing in it can be used. */
  readonly fetch: (previous: Value | undefined) => Promise<Fetched<Value>>;
  readonly clock: Clock;
  /**
   * Seconds between two fetches for what is not found in a fresh document, so that a flood costs one, and
   * after a failure.
   */
  readonly cooldown: number;
  readonly failed: (reason: string) => void;
}

/** Seconds between two attempts while there is nothing at all: the servers may have started together. */
const FIRST_RETRY = 1;
/**
 * Seconds that a document is used while the issuer is away: the longest life an access token may have.
 * Whatever an issuer signed before it went away has expired by then; keys of PrivateTokens say their end.
 */
const KEEP = 86_400;

export function keepDocument<Value>(options: KeptDocumentOptions<Value>): KeptDocument<Value> {
  const { fetch, clock, cooldown, failed } = options;
  let kept: (Fetched<Value> & { readonly at: number }) | undefined;
  let triedAt = -Infinity;
  let failing = false;
  let pending: Promise<void> | undefined;

  // A wall clock that was set back counts as time passed: better a fetch too many.
  const passed = (since: number, seconds: number) =>
    clock.now() - since >= seconds * 1000 || clock.now() < since;
  const usable = () => (kept === undefined || passed(kept.at, KEEP) ? undefined : kept);
  const pause = () => (kept === undefined ? FIRST_RETRY : cooldown);

  async function load(): Promise<void> {
    triedAt = clock.now();
    try {
      kept = { ...(await fetch(kept?.value)), at: clock.now() };
      failing = false;
    } catch (error) {
      failing = true;
      failed(String(error));
    }
  }

  const refresh = () =>
    (pending ??= load().finally(() => {
      pending = undefined;
    }));

  async function findInNewer<Found>(look: (value: Value) => Found | undefined) {
    const old = kept !== undefined && !failing && passed(kept.at, kept.maxAge);
    if (pending !== undefined || old || passed(triedAt, pause())) {
      await refresh();
      await pending; // one was asked for meanwhile, so what came may be older
    }
    const current = usable();
    const found = current && look(current.value);
    if (current === undefined || (found === undefined && failing))
      throw new KeysUnavailable(pause());
    return found;
  }

  function find<Found>(look: (value: Value) => Found | undefined): Awaitable<Found | undefined> {
    const current = usable();
    const found = current && look(current.value);
    if (current === undefined || found === undefined) return findInNewer(look);
    const rested = !failing || passed(triedAt, cooldown);
    if (passed(current.at, current.maxAge) && rested) void refresh();
    return found;
  }

  return {
    find,
    findAtOnce(look) {
      const current = usable();
      if (!failing || (current && look(current.value) !== undefined)) return find(look);
      if (passed(triedAt, pause())) void refresh();
      throw new KeysUnavailable(pause());
    },
    renew() {
      // What is being fetched may be older than what is looked for next.
      void (pending === undefined ? refresh() : pending.then(refresh));
    },
  };
}
