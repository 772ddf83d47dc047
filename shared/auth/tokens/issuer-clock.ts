import type { Clock } from '#shared/base/clock.ts';
import type { Log } from '#shared/base/log.ts';
import { parseHttpDate } from '#shared/http/date.ts';

/** Called when a request is sent; the result is called with the fields of its answer, by names in lower case. */
export type Hearing = () => (fields: Readonly<Record<string, string | undefined>>) => void;

/** Compares the clock of the issuer with ours: if they differ too much, every token is refused. */
export interface IssuerClock {
  readonly hear: Hearing;
  /** Returns the least difference in seconds that the last dated answer shows; undefined before such an answer. */
  difference(): number | undefined;
}

export interface IssuerClockOptions {
  readonly issuer: string;
  readonly clock: Clock;
  /** Seconds by which the clocks may differ. */
  readonly skew: number;
  readonly log: Pick<Log, 'warn'>;
}

/** Milliseconds. Date has whole seconds (RFC 9110 section 5.6.7). */
const SECOND = 1000;

/**
 * Warns once if the clocks differ by more than `skew` whenever the answer was made, and reports once if they agree
 * again.
 */
export function issuerClock({ issuer, clock, skew, log }: IssuerClockOptions): IssuerClock {
  // Date has whole seconds, so a smaller difference cannot be seen.
  const accepted = Math.max(skew * 1000, SECOND);
  let difference: number | undefined;
  let differs = false;

  function compare(made: number, sent: number, received: number): void {
    const ahead = made + SECOND / 2 - (sent + received) / 2;
    const unsure = (SECOND + Math.abs(received - sent)) / 2;
    const least = Math.max(0, Math.abs(ahead) - unsure);
    difference = least / 1000;
    if (!differs && least > accepted) {
      differs = true;
      log.warn('clock.differs', {
        reason: `the clock of ${issuer}, or of a proxy before it, is ${Math.round(difference)} s ${ahead > 0 ? 'ahead of' : 'behind'} ours, and ${skew} s are accepted. If it is the server’s clock, tokens are refused. Set both by NTP`,
      });
    } else if (differs && Math.abs(ahead) <= accepted) {
      differs = false;
      log.warn('clock.agrees', { reason: `the clock of ${issuer} agrees with ours again` });
    }
  }

  return {
    hear() {
      const sent = clock.now();
      return ({ date = '', age }) => {
        const received = clock.now();
        // The answer comes from a cache, so its Date is old (RFC 9111 sections 4.2.3 and 5.1).
        if (age !== undefined) return;
        const made = parseHttpDate(date, received);
        if (made !== undefined) compare(made, sent, received);
      };
    },
    difference: () => difference,
  };
}
