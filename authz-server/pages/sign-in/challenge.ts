import { createHmac } from 'node:crypto';
import { sameText } from '#shared/base/constant-time.ts';
import { derivedKey } from '#shared/base/derived-key.ts';
import type { PagesServer } from '../../base/server.ts';

/** Milliseconds: the life of a challenge, and how long an authenticator may ask its owner. */
export const CHALLENGE_LIFE = 300_000;

/** The purpose of a challenge: to sign in, or to make a passkey for a person. */
export type ChallengePurpose = 'get' | `create ${string}`;

export interface Challenges {
  /** Returns a challenge in base64url for a browser, which `csrf` stands for (WebAuthn section 13.4.3). */
  make(purpose: ChallengePurpose, csrf: string): string;
  /** True once for a challenge of this purpose and browser that is at most five minutes old. */
  spend(challenge: string, purpose: ChallengePurpose, csrf: string): Promise<boolean>;
}

const TIME_OCTETS = 6;
const RANDOM_OCTETS = 16;
const HEAD_OCTETS = TIME_OCTETS + RANDOM_OCTETS;

/** A challenge is its time, random octets, and a MAC over both, the purpose and the browser: pages that nobody answers leave nothing behind. */
export function createChallenges({
  clock,
  master,
  random,
  stores,
}: Pick<PagesServer, 'clock' | 'master' | 'random' | 'stores'>): Challenges {
  const key = derivedKey(master, 'countersign authz passkey');
  const signed = (head: Buffer, purpose: ChallengePurpose, csrf: string) => {
    const told = JSON.stringify([head.toString('base64url'), purpose, csrf]);
    const mac = createHmac('sha256', key).update(told).digest();
    return Buffer.concat([head, mac]).toString('base64url');
  };

  return {
    make(purpose, csrf) {
      const head = Buffer.alloc(HEAD_OCTETS);
      head.writeUIntBE(clock.now(), 0, TIME_OCTETS);
      head.set(random(RANDOM_OCTETS), TIME_OCTETS);
      return signed(head, purpose, csrf);
    },

    async spend(challenge, purpose, csrf) {
      const head = Buffer.from(challenge, 'base64url').subarray(0, HEAD_OCTETS);
      if (head.length < HEAD_OCTETS || !sameText(challenge, signed(head, purpose, csrf))) {
        return false;
      }
      const age = clock.now() - head.readUIntBE(0, TIME_OCTETS);
      // The clock may have been set back. The store remembers a used challenge for as long as it is valid.
      if (Math.abs(age) > CHALLENGE_LIFE) return false;
      return stores.replay.unique('passkey-challenge', challenge, (2 * CHALLENGE_LIFE) / 1000);
    },
  };
}
