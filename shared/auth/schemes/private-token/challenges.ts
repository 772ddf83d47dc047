import { createHmac } from 'node:crypto';
import { serverNameOf } from '#shared/private-token/server-name.ts';
import { challengeDigest, encodeChallenge } from '#shared/private-token/token-challenge.ts';
import type { TokenType } from '#shared/private-token/token-types.ts';
import { RecentMap } from '#shared/base/recent-map.ts';

/** The parts of a challenge that depend on the space. */
export interface ChallengedSpace {
  /** The URL of the space. */
  readonly url: string;
  /** The token types, in the order of the challenges. */
  readonly types: readonly TokenType[];
  /**
   * The length of a time window in seconds. Tokens are then valid in this space only, in the window of their
   * challenge and the next. Absent: tokens are valid at all named origins until their key retires.
   */
  readonly window?: number;
  /** Server names of further origins where the tokens are valid. */
  readonly origins: readonly string[];
}

/**
 * A challenge of a space, the same for every client: a different challenge for each client would link the client's
 * tokens.
 */
export interface SpaceChallenge {
  /** The encoded TokenChallenge (RFC 9577 section 2.1.1). */
  readonly bytes: Buffer;
  readonly digest: Buffer;
  /**
   * Milliseconds since the epoch from which no token for the challenge is accepted. Infinity: as long as the token's
   * key.
   */
  readonly ends: number;
}

/** The time, and the store's identity, from which challenges are made. */
export interface Moment {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The identity of the store's memory of spent tokens: a new memory invalidates the tokens of a window. */
  readonly memory: string;
}

/** The challenges of a space. */
export interface Challenges {
  offered(type: TokenType, moment: Moment): SpaceChallenge;
  /**
   * Returns the challenges whose tokens are accepted: of the previous window, of this one, and of the next, which a
   * faster clock may have reached.
   */
  accepted(type: TokenType, moment: Moment): readonly SpaceChallenge[];
}

/** Most challenges that are kept: both types in all accepted windows, and in one more. */
const MADE = 16;

/**
 * Creates the challenges of a space. `redemption_context` is empty or a pseudorandom function of space, time window
 * and the store's memory (RFC 9577 section 2.1.1.2). `issuer`: the issuer's name. `secret`: used only for this
 * purpose, and shared by all processes.
 */
export function createChallenges(
  space: ChallengedSpace,
  issuer: string,
  secret: Buffer,
): Challenges {
  const { url, window } = space;
  // The names are sorted: origins that share tokens must write the same `origin_info` (RFC 9577 section 5.4).
  const origins = [...new Set([serverNameOf(url), ...space.origins])].toSorted();
  const made = new RecentMap<SpaceChallenge>(MADE);

  function make(type: TokenType, index: number, memory: string): SpaceChallenge {
    const [context, ends] =
      window === undefined
        ? [Buffer.alloc(0), Infinity]
        : [
            createHmac('sha256', secret).update(`${url} ${window} ${index} ${memory}`).digest(),
            (index + 2) * window * 1000,
          ];
    const bytes = encodeChallenge({ type, issuer, context, origins });
    return { bytes, digest: challengeDigest(bytes), ends };
  }

  function ofWindow(type: TokenType, index: number, memory: string): SpaceChallenge {
    const name = `${type} ${index} ${memory}`;
    const challenge = made.get(name) ?? make(type, index, memory);
    made.set(name, challenge);
    return challenge;
  }

  const indexAt = (now: number) => (window === undefined ? 0 : Math.floor(now / (window * 1000)));
  const steps = window === undefined ? [0] : [-1, 0, 1];
  return {
    offered: (type, { now, memory }) => ofWindow(type, indexAt(now), memory),
    accepted: (type, { now, memory }) =>
      steps.map((step) => ofWindow(type, indexAt(now) + step, memory)),
  };
}
