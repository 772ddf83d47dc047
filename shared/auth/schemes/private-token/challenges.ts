import { createHmac } from 'node:crypto';
import { serverNameOf } from '#shared/private-token/server-name.ts';
import { challengeDigest, encodeChallenge } from '#shared/private-token/token-challenge.ts';
import type { TokenType } from '#shared/private-token/token-types.ts';
import { RecentMap } from '#shared/base/recent-map.ts';

/** The parts of a challenge that depend on the space. */
export interface ChallengedSpace {
  /** Where the space begins. */
  readonly url: string;
  /** In the order of the challenges. */
  readonly types: readonly TokenType[];
  /**
   * Seconds: a token is good in this space alone, in the window that it was asked for in and the next.
   * Absent: it is good at all of its origins until its key retires.
   */
  readonly window?: number;
  /** Server names of further origins that the tokens are for. */
  readonly origins: readonly string[];
}

/** A challenge of a space, the same for every client: one of its own would link what it redeems. */
export interface SpaceChallenge {
  /** TokenChallenge (RFC 9577 section 2.1.1). */
  readonly bytes: Buffer;
  readonly digest: Buffer;
  /** Milliseconds since the epoch: no token for it passes from then on. Infinity: as long as its key. */
  readonly ends: number;
}

/** When challenges are made, and by what. */
export interface Moment {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Identity of the store's memory of spent tokens: tokens of a window end with it. */
  readonly memory: string;
}

/** The challenges of a space. */
export interface Challenges {
  offered(type: TokenType, moment: Moment): SpaceChallenge;
  /** Those whose tokens pass: of the window before, of this, and of the next, which other clocks may be in. */
  accepted(type: TokenType, moment: Moment): readonly SpaceChallenge[];
}

/** Challenges that are kept: those of both types in all windows that are accepted, and in the next. */
const MADE = 16;

/**
 * `redemption_context` is empty or a pseudorandom function of space, time window and the store's memory
 * (RFC 9577 section 2.1.1.2). `issuer`: its name. `secret`: for this purpose alone, shared by all processes.
 */
export function createChallenges(
  space: ChallengedSpace,
  issuer: string,
  secret: Buffer,
): Challenges {
  const { url, window } = space;
  // Sorted: origins that share tokens have to write the same `origin_info` (RFC 9577 section 5.4).
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
