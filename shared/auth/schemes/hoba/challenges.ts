import { createHmac } from 'node:crypto';
import type { Clock } from '#shared/base/clock.ts';
import { sameBytes } from '#shared/base/constant-time.ts';
import type { Random } from '#shared/base/random.ts';

/** Stateless challenges: a process accepts the challenges of all processes with the same secret. */
export interface Challenges {
  /**
   * Issues a challenge for one origin. Without the secret it cannot be predicted or told from a random string (RFC
   * 7486 section 2).
   */
  issue(origin: string): string;
  /**
   * Returns when a challenge was made, in milliseconds; undefined if this server did not issue it for this origin.
   */
  madeAt(challenge: string, origin: string): number | undefined;
}

/** Lengths in bytes of the random salt, the time and the MAC. */
const SALT = 16;
const TIME = 6;
const MAC = 16;

export interface ChallengesOptions {
  readonly secret: Buffer;
  readonly clock: Clock;
  readonly random: Random;
}

export function createChallenges({ secret, clock, random }: ChallengesOptions): Challenges {
  const mac = (purpose: string, bytes: Buffer) =>
    createHmac('sha256', secret).update(`${purpose} `).update(bytes).digest();
  const seal = (bytes: Buffer, origin: string) => mac(`seal ${origin}`, bytes).subarray(0, MAC);
  /** Encrypts the time by exclusive or, so that a second call decrypts it. */
  const hidden = (salt: Buffer, time: Buffer) => {
    const mask = mac('time', salt);
    return Buffer.from(time.map((byte, index) => byte ^ (mask[index] ?? 0)));
  };

  return {
    issue(origin) {
      const salt = random(SALT);
      const time = Buffer.alloc(TIME);
      time.writeUIntBE(clock.now(), 0, TIME);
      const sealed = Buffer.concat([salt, hidden(salt, time)]);
      return Buffer.concat([sealed, seal(sealed, origin)]).toString('base64url');
    },

    madeAt(challenge, origin) {
      const bytes = Buffer.from(challenge, 'base64url');
      const sealed = bytes.subarray(0, SALT + TIME);
      const ours = sameBytes(bytes.subarray(SALT + TIME), seal(sealed, origin));
      if (!ours || bytes.toString('base64url') !== challenge) return undefined;
      return hidden(sealed.subarray(0, SALT), sealed.subarray(SALT)).readUIntBE(0, TIME);
    },
  };
}
