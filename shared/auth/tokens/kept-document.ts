import { KeysUnavailable } from './issuer-keys.ts';
import type { Awaitable } from '#shared/base/awaitable.ts';
import type { Clock } from '#shared/base/clock.ts';

/** The keys that an issuer publishes in one document, which is fetched when first needed, then kept and renewed. */
export interface KeptDocument<Value> {
  /**
   * Returns what `look` finds in the document. If `look` finds nothing, it gets a newer document. That document is
   * fetched at once if the present document is old, otherwise at most once per cooldown. Throws `KeysUnavailable` if
   * it cannot find out.
   */
  find<Found>(look: (value: Value) => Found | undefined): Awaitable<Found | undefined>;
  /**
   * Does the same as `find`, except after a failed fetch: if `look` finds nothing then, it throws at once, and the
   * next fetch runs in the background. So an issuer that hangs delays only the first callers.
   */
  findAtOnce<Found>(look: (value: Value) => Found | undefined): Awaitable<Found | undefined>;
  /** Fetches the document at once, regardless of the cooldown. */
  renew(): void;
}

export interface Fetched<Value> {
  readonly value: Value;
  /** Seconds after which the document is fetched again, in the background. */
  readonly maxAge: number;
}

export interface KeptDocumentOptions<Value> {
  /** Fetches the document. Rejects, within seconds, if there is none or it has nothing usable. */
  readonly fetch: (previous: Value | undefined) => Promise<Fetched<Value>>;
  readonly clock: Clock;
  /**
   * Least seconds between two fetches after a failure, or for a key that a fresh document lacks, so that a flood
   * causes one fetch.
   */
  readonly cooldown: number;
  readonly failed: (reason: string) => void;
}

/**
 * Seconds between two attempts before the first success. The time is short, since both servers may have started
 * together.
 */
const FIRST_RETRY = 1;
/**
 * Seconds for which a document is used while the issuer does not answer: the longest life of an access token. Keys of
 * PrivateTokens have an end of their own.
 */
const KEEP = 86_400;

export function keepDocument<Value>(options: KeptDocumentOptions<Value>): KeptDocument<Value> {
  const { fetch, clock, cooldown, failed } = options;
  let kept: (Fetched<Value> & { readonly at: number }) | undefined;
  let triedAt = -Infinity;
  let failing = false;
  let pending: Promise<void> | undefined;

  // If the wall clock was set back, the time counts as over: one unnecessary fetch is harmless.
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
      await pending; // another fetch was requested meanwhile, so this document may be too old
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
      // The document being fetched may be older than the caller needs, so another fetch follows.
      void (pending === undefined ? refresh() : pending.then(refresh));
    },
  };
}
