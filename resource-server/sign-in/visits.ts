import { createHash, createHmac } from 'node:crypto';
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
  /** The path and query that the person requested. */
  readonly path: string;
}

/** A sign-in that began here and cannot continue in this browser. Its tab may start again. */
export interface LostVisit {
  readonly path: string;
  /** How often this tab has started again. */
  readonly turn: number;
}

/** The part of a visit that the state carries, encrypted. */
interface Begun extends LostVisit {
  readonly id: string;
  /** The digest of the browser's secret. */
  readonly browser: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Seconds within which a person must sign in. */
export const VISIT = 600;
/**
 * How often a tab starts again. If a browser reopens several tabs at once, each gets a secret, and the browser keeps
 * the last, which the second turn has. A browser that keeps no cookies gets an explanation after these turns.
 */
const MOST_TURNS = 5;
/** Characters of the longest path. With it, the answer fits into nginx's buffer of 4 KiB. */
const LONGEST_PATH = 1024;

const SECRET = /^[\w-]{43}$/;

const digestOf = (secret: string) => createHash('sha256').update(secret).digest('base64url');

/** Derives the nonce or the verifier of a sign-in from the browser's secret and the state. */
const ofVisit = (secret: string, part: 'nonce' | 'verifier', state: string) =>
  createHmac('sha256', secret).update(`${part} ${state}`).digest('base64url');

/**
 * The sign-ins in progress at a space. The state carries what a tab requested, encrypted. One cookie is the browser's
 * secret, for any number of tabs. So a passing visitor uses no storage here, and no other browser can continue the
 * sign-in.
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
  const purpose = (space: string) => `visit ${space}`;
  const nameOf = (space: string) => cookieName(space, 'visit');

  /** The browser's secret. Undefined: the browser has none, or an attacker has planted a second cookie. */
  function secretOf(space: string, cookies: readonly Cookie[]): string | undefined {
    const [secret, another] = cookiesNamed(cookies, nameOf(space));
    const isOne = secret !== undefined && another === undefined && SECRET.test(secret);
    return isOne ? secret : undefined;
  }

  function open(space: string, state: string): Begun | undefined {
    try {
      return JSON.parse(unseal(master, purpose(space), state)) as Begun;
    } catch {
      return undefined; // another party wrote the cookie
    }
  }

  return {
    /** Begins a visit. Returns the visit with the Set-Cookie line that keeps the browser's secret. */
    begin(space: string, path: string, cookies: readonly Cookie[], turn = 0) {
      const secret = secretOf(space, cookies) ?? random(32).toString('base64url');
      const begun: Begun = {
        id: random(16).toString('base64url'),
        browser: digestOf(secret),
        path: path.length > LONGEST_PATH ? new URL(space).pathname : path,
        turn,
        at: clock.now(),
      };
      const state = seal(master, purpose(space), JSON.stringify(begun), random);
      const nonce = ofVisit(secret, 'nonce', state);
      const verifier = ofVisit(secret, 'verifier', state);
      const visit: Visit = { state, nonce, verifier, path: begun.path };
      return { visit, line: setCookie(space, nameOf(space), secret, VISIT) };
    },

    /**
     * Finds the visit of a returned state. Returns the lost visit if it belongs to another browser or has expired.
     * Undefined: it did not begin here, or was lost too often.
     */
    find(
      space: string,
      state: string,
      cookies: readonly Cookie[],
    ): { readonly visit: Visit } | { readonly lost: LostVisit } | undefined {
      const begun = open(space, state);
      if (begun === undefined) return undefined;
      const { path, turn, browser, at } = begun;
      const secret = secretOf(space, cookies);
      const isHere = secret !== undefined && sameText(digestOf(secret), browser);
      if (isHere && isWithin(clock, at, { life: VISIT, skew })) {
        const nonce = ofVisit(secret, 'nonce', state);
        return { visit: { state, nonce, verifier: ofVisit(secret, 'verifier', state), path } };
      }
      return turn < MOST_TURNS ? { lost: { path, turn } } : undefined;
    },
  };
}

export type Visits = ReturnType<typeof createVisits>;
