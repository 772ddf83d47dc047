import { createHash } from 'node:crypto';
import { sameText } from '#shared/base/constant-time.ts';
import { type Clock, isWithin } from '#shared/base/clock.ts';
import type { Random } from '#shared/base/random.ts';
import { type Cookie, cookiesNamed } from '#shared/http/cookies.ts';
import { cookieName, setCookie } from '#shared/auth/schemes/session/cookie.ts';
import { seal, unseal } from '#shared/keys/seal.ts';

/** A sign-in in progress, in one tab. */
export interface Visit {
  /** Returned with the code (RFC 6749 section 10.12). */
  readonly state: string;
  /** Returned in the ID token (OpenID Connect Core 1.0 section 3.1.2.1). */
  readonly nonce: string;
  /** The code verifier (RFC 7636 section 4.1). */
  readonly verifier: string;
  /** The path and query that the person wanted. */
  readonly path: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Seconds that a person has to sign in. */
export const VISIT = 600;
/** The most tabs in which somebody signs in to one application at a time. */
const MOST = 5;
/** Characters of all their cookies: nginx accepts 8 KiB in a line, and the application has cookies, too. */
const ROOM = 5 * 1024;
/**
 * The most of these cookies that are read, and removed at a time, however many tabs have begun or somebody has
 * planted.
 */
const LOOKED_AT = 10;
/**
 * Characters of a path. With everything else, removed cookies included, the answer fits into nginx's buffer of 4
 * KiB.
 */
const LONGEST_PATH = 1024;

const ID = /^[\w-]{12}$/;

/** The cookie's name is derived from the state, so that tabs do not interfere with one another. */
const idOf = (state: string) => createHash('sha256').update(state).digest('base64url').slice(0, 12);

/**
 * The sign-ins in progress at a space. The browser keeps them in sealed cookies: a passing visitor uses no storage
 * here, and no other browser can continue the sign-in.
 */
export function createVisits({
  master,
  clock,
  random,
  skew,
}: {
  readonly master: Buffer;
  readonly clock: Clock;
  readonly random: Random;
  /** Seconds by which the clock of the server where a visit began may be ahead. */
  readonly skew: number;
}) {
  const purpose = (space: string, id: string) => `visit ${id} ${space}`;
  const nameOf = (space: string, id: string) => cookieName(space, `visit-${id}`);
  const secret = () => random(32).toString('base64url');

  function open(space: string, id: string, sealed: string): Visit | undefined {
    try {
      const visit = JSON.parse(unseal(master, purpose(space, id), sealed)) as Visit;
      return isWithin(clock, visit.at, { life: VISIT, skew }) ? visit : undefined;
    } catch {
      return undefined; // somebody else wrote it
    }
  }

  /** All visits that a browser's cookies show for a space, by id, newest first; unreadable ones come last. */
  function shown(space: string, cookies: readonly Cookie[]) {
    const [before = '', after = ''] = nameOf(space, '\0').split('\0');
    return cookies
      .flatMap(([name, sealed]) => {
        const id = name.slice(before.length, name.length - after.length);
        const ours = name.startsWith(before) && name.endsWith(after) && ID.test(id);
        return ours ? [{ name, id, sealed }] : [];
      })
      .slice(0, LOOKED_AT)
      .map(({ name, id, sealed }) => ({
        name,
        length: name.length + sealed.length,
        at: open(space, id, sealed)?.at ?? 0,
      }))
      .toSorted((a, b) => b.at - a.at);
  }

  return {
    /**
     * Begins a visit. Returns it with the Set-Cookie lines that keep it and remove those that are too old or too
     * many.
     */
    begin(space: string, path: string, cookies: readonly Cookie[]) {
      const visit: Visit = {
        state: secret(),
        nonce: secret(),
        verifier: secret(),
        path: path.length > LONGEST_PATH ? new URL(space).pathname : path,
        at: clock.now(),
      };
      const id = idOf(visit.state);
      const sealed = seal(master, purpose(space, id), JSON.stringify(visit), random);
      let room = ROOM - sealed.length;
      const gone = shown(space, cookies).filter(({ at, length }, index) => {
        room -= length;
        return at === 0 || index >= MOST - 1 || room < 0;
      });
      return {
        visit,
        lines: [
          setCookie(space, nameOf(space, id), sealed, VISIT),
          ...gone.map(({ name }) => setCookie(space, name, '', 0)),
        ],
      };
    },

    /**
     * Finds the visit of a state that came back to this browser. Returns undefined if it has begun none, or it has
     * expired.
     */
    find(space: string, state: string, cookies: readonly Cookie[]) {
      const id = idOf(state);
      const name = nameOf(space, id);
      const [sealed, another] = cookiesNamed(cookies, name);
      const visit =
        sealed === undefined || another !== undefined ? undefined : open(space, id, sealed);
      return visit && sameText(visit.state, state)
        ? { visit, end: setCookie(space, name, '', 0) }
        : undefined;
    },
  };
}

export type Visits = ReturnType<typeof createVisits>;
