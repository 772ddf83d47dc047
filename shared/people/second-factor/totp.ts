import { createHmac } from 'node:crypto';
import { sameText } from '#shared/base/constant-time.ts';

/** Seconds of a time step (RFC 6238 section 5.2). */
export const PERIOD = 30;
/** Digits of a code (RFC 4226 section 5.3). */
export const DIGITS = 6;
/** Octets of a secret (RFC 4226 section 4, R6). */
export const SECRET_OCTETS = 20;
/** Steps by which a device's clock may differ, which also gives time to type the code (RFC 6238 section 5.2). */
const WINDOW = [0, -1, 1] as const;

/**
 * Returns the one-time code of a counter (RFC 4226 section 5.3), with SHA-1, the only hash that every app supports.
 */
export function hotp(secret: Uint8Array, counter: number, digits = DIGITS): string {
  const moving = Buffer.alloc(8);
  moving.writeBigUInt64BE(BigInt(counter));
  const mac = createHmac('sha1', secret).update(moving).digest();
  const offset = mac.readUInt8(mac.length - 1) & 0xf;
  const code = (mac.readUInt32BE(offset) & 0x7fffffff) % 10 ** digits;
  return String(code).padStart(digits, '0');
}

/** Returns the time step of a time in milliseconds since the epoch (RFC 6238 section 4.2). */
export const stepAt = (milliseconds: number): number => Math.floor(milliseconds / 1000 / PERIOD);

/**
 * Returns the step of a code: the present step, the one before or the next; undefined if the code is of none of them.
 */
export function stepOf(secret: Uint8Array, code: string, now: number): number | undefined {
  const steps = WINDOW.map((drift) => stepAt(now) + drift).filter((step) => step >= 0);
  return steps.find((step) => sameText(hotp(secret, step), code));
}
