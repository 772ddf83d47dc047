import { hash } from 'node:crypto';
import { andThen, type Awaitable } from '#shared/base/awaitable.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { Turn } from '#shared/base/line.ts';
import type { Authenticated, Directory, Person } from '#shared/people/directory.ts';
import type { Random } from '#shared/base/random.ts';
import type { RevocationFeed, RevocationView } from '#shared/stores/revocation/revocations.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { RecentMap } from '#shared/base/recent-map.ts';

/**
 * Checks passwords that clients send with every request: each password is hashed at its first use, then remembered.
 */
export interface VerifiedPasswords {
  /**
   * Returns undefined if the person is unknown or disabled, or the password is wrong. Throws or rejects with
   * `StoreUnavailable`, also if it cannot find out whether the person was changed since. It calls `turn` only if it
   * has to hash the password.
   */
  check(name: string, password: string, turn: () => Turn): Awaitable<Person | undefined>;
}

export interface VerifiedPasswordsOptions {
  readonly directory: Pick<Directory, 'authenticate'>;
  readonly feed: Pick<RevocationFeed, 'latest'>;
  readonly clock: Clock;
  readonly random: Random;
}

/** Most pairs of name and password that are remembered. */
const CAPACITY = 10_000;
/** Milliseconds for which a password is remembered if the directory does not announce changes. */
const LIFE = 5 * 60_000;
/** Most times that one password is hashed if the person is changed during each hashing. */
const ROUNDS = 3;

/** A password that is being hashed, in the queue of the first caller that asked. */
interface Hashing {
  readonly turn: Turn;
  readonly right: Promise<boolean>;
}

/** The password that a caller asks about. */
interface Given {
  readonly name: string;
  readonly password: string;
  readonly turn: () => Turn;
}

interface Verified extends Authenticated {
  readonly epoch: string | undefined;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/**
 * Remembers right passwords, never wrong ones, as a hash with a secret. Neither hash nor secret leaves this process.
 * A remembered password is valid only while the person's generation is the same as at the hashing. Every call
 * compares the generations, so the next request sees a change of the person.
 */
export function createVerifiedPasswords({
  directory,
  feed,
  clock,
  random,
}: VerifiedPasswordsOptions): VerifiedPasswords {
  // A plain hash with a secret in front is enough, at a quarter of the cost of an HMAC: strangers never see the
  // hashes, so they cannot extend one.
  const secret = random(32).toString('base64url');
  const verified = new RecentMap<Verified>(CAPACITY);
  const underWay = new Map<string, Hashing>();

  const keyOf = (name: string, password: string) =>
    hash('sha256', secret + JSON.stringify([name, password]), 'base64url');

  const counts = ({ id, generation, epoch, until }: Verified, view: RevocationView) =>
    epoch === view.epoch && generation >= view.generation(id) && clock.now() < until;

  async function authenticate(
    key: string,
    { name, password }: Given,
    turn: Turn,
    epoch: string | undefined,
  ): Promise<boolean> {
    const until = clock.now() + LIFE;
    const person = await directory.authenticate(name, password, turn);
    if (person !== undefined) verified.set(key, { ...person, epoch, until });
    return person !== undefined;
  }

  function hashing(key: string, given: Given, epoch: string | undefined): Hashing {
    const turn = given.turn();
    const right = authenticate(key, given, turn, epoch).finally(() => underWay.delete(key));
    const made = { turn, right };
    underWay.set(key, made);
    return made;
  }

  function remembered(key: string, view: RevocationView): Person | undefined {
    const known = verified.get(key);
    return known && counts(known, view) ? { id: known.id, name: known.name } : undefined;
  }

  async function checkAnew(
    key: string,
    given: Given,
    view: RevocationView,
    round = 1,
  ): Promise<Person | undefined> {
    // If the same password is being hashed, the caller waits for the result, and then asks the feed again.
    const joined = underWay.get(key);
    const { turn, right } = joined ?? hashing(key, given, view.epoch);
    try {
      if (!(await right)) return undefined;
    } catch (error) {
      // The caller that asked first has disconnected before the hashing began.
      if (joined && turn.client?.destroyed) return checkAnew(key, given, view, round);
      throw error;
    }
    const now = await feed.latest();
    const person = remembered(key, now);
    if (person !== undefined) return person;
    if (round < ROUNDS) return checkAnew(key, given, now, round + 1);
    throw new StoreUnavailable('the person is changed faster than the password is checked');
  }

  return {
    check(name, password, turn) {
      const key = keyOf(name, password);
      return andThen(
        feed.latest(),
        (view) => remembered(key, view) ?? checkAnew(key, { name, password, turn }, view),
      );
    },
  };
}
