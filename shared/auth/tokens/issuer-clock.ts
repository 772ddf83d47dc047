import type { Clock } from '#shared/base/clock.ts';
import type { Log } from '#shared/base/log.ts';
import { parseHttpDate } from '#shared/http/date.ts';

/** Called when something is asked, and then with the fields of the answer, by their names in lower case. */
export type Hearing = () => (fields: Readonly<Record<string, string | undefined>>) => void;

/** Compares the clock of the issuer with ours: where they differ too much, every token is refused. */
export interface IssuerClock {
  readonly hear: Hearing;
  /** Seconds by which they differed at least, by the last answer that tells; undefined: there was none. */
  difference(): number | undefined;
}

export interface IssuerClockOptions {
  readonly issuer: string;
  readonly clock: Clock;
  /** Seconds by which they may differ. */
  readonly skew: number;
  readonly log: Pick<Log, 'warn'>;
}

/** Milliseconds. Date has whole seconds (RFC 9110 section 5.6.7). */
const SECOND = 1000;

/** Warns once the clocks differ by more than `skew` whenever the answer was made, and once they agree again. */
export function issuerClock({ issuer, clock, skew, log }: IssuerClockOptions): IssuerClock {
  // Whole seconds tell nothing of less.
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
        // A cache has kept it, and its Date is old (RFC 9111 sections 4.2.3 and 5.1).
        if (age !== undefined) return;
        const made = parseHttpDate(date, received);
        if (made !== undefined) compare(made, sent, received);
      };
    },
    difference: () => difference,
  };
}
