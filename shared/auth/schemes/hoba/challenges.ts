import { createHmac } from 'node:crypto';
import type { Clock } from '#shared/base/clock.ts';
import { sameBytes } from '#shared/base/constant-time.ts';
import type { Random } from '#shared/base/random.ts';

/** Challenges that no process has to remember: processes agree by a shared secret. */
export interface Challenges {
  /** Nobody can guess it, nor tell it from a random string (RFC 7486 section 2); good at that origin alone. */
  issue(origin: string): string;
  /** When it was made, in milliseconds; undefined: it is not ours, or of another origin. */
  madeAt(challenge: string, origin: string): number | undefined;
}

/** Bytes: of what makes each differ from all others, of the time, and of the MAC. */
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
  /** What was hidden appears when it is hidden again. */
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
