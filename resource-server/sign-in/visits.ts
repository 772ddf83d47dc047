import { createHash } from 'node:crypto';
import { sameText } from '#shared/base/constant-time.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { Random } from '#shared/base/random.ts';
import { type Cookie, cookiesNamed } from '#shared/http/cookies.ts';
import { cookieName, setCookie } from '#shared/auth/schemes/session/cookie.ts';
import { seal, unseal } from '#shared/keys/seal.ts';

/** A sign-in under way, in one tab. */
export interface Visit {
  /** It comes back with the code (RFC 6749 section 10.12). */
  readonly state: string;
  /** It comes back in the ID token (OpenID Connect Core 1.0 section 3.1.2.1). */
  readonly nonce: string;
  /** RFC 7636 section 4.1. */
  readonly verifier: string;
  /** Where the person wanted to go: path and query. */
  readonly path: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Seconds for which somebody may take to sign in. */
export const VISIT = 600;
/** Tabs in which somebody signs in to one application. */
const MOST = 5;
/** Characters of their cookies: nginx takes 8 KiB in a line, and the application has some as well. */
const ROOM = 5 * 1024;
/** Cookies of ours that are looked at, and may go at a time, of however many tabs have begun or somebody has planted. */
const LOOKED_AT = 10;
/** Characters of a path: with all else, and all that go, the answer fits into the 4 KiB that nginx has for it. */
const LONGEST_PATH = 1024;

const ID = /^[\w-]{12}$/;

/** The name of the cookie follows from the state, so that tabs do not disturb one another. */
const idOf = (state: string) => createHash('sha256').update(state).digest('base64url').slice(0, 12);

/**
 * Sign-ins under way at a space are kept by the browsers, sealed: whoever only comes by leaves nothing with us, and
 * nobody but this browser can go on with it.
 */
export function createVisits({
  master,
  clock,
  random,
}: {
  readonly master: Buffer;
  readonly clock: Clock;
  readonly random: Random;
}) {
  const purpose = (space: string, id: string) => `visit ${id} ${space}`;
  const nameOf = (space: string, id: string) => cookieName(space, `visit-${id}`);
  const secret = () => random(32).toString('base64url');

  function open(space: string, id: string, sealed: string): Visit | undefined {
    try {
      const visit = JSON.parse(unseal(master, purpose(space, id), sealed)) as Visit;
      const age = clock.now() - visit.at;
      return age >= 0 && age < VISIT * 1000 ? visit : undefined;
    } catch {
      return undefined; // whoever wrote it, it is not ours
    }
  }

  /** By id, all that a browser shows for a space, the latest first; those that are none come last. */
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
    /** A new one, and the lines of Set-Cookie that keep it and let those go that are too old or too many. */
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

    /** The one of a state that came back to this browser; undefined: it has begun none such, or it is over. */
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
