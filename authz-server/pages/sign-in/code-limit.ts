import type { Context } from 'koa';
import { customerOf } from '#shared/http/forwarded.ts';
import { readRecoveryCode } from '#shared/people/second-factor/recovery-codes.ts';
import type { LimitNamespace, Rate, Spent } from '#shared/stores/limits/limits.ts';
import type { PagesServer } from '../../base/server.ts';
import { createKnownBrowser } from './known-browser.ts';

type Paid =
  | Extract<Spent, { ok: false }>
  | {
      readonly ok: true;
      /** Call this after a right code: it then does not count against the limit. */
      giveBack(): Promise<void>;
    };

export type Bucket = readonly [namespace: LimitNamespace, key: string, rate: Rate];

/** A one-time code that a visitor enters for a person. */
interface Try {
  readonly accountId: string;
  /**
   * The id of the set-up to which the code should belong. Absent: the code is for a new set-up, whose secret the page
   * shows.
   */
  readonly secondFactor?: string | undefined;
  readonly typed: string;
}

/** The limit over days: so many times the burst, and so many times the seconds for one more. */
const DAYS = { burst: 10, per: 24 };

/**
 * Limits codes (RFC 4226 section 7.3). A code is right with a chance of 3 in 10^6, for three steps are taken. By default
 * somebody who knows the password, in any number of browsers and at any number of addresses, has 50 codes and 12 more a
 * day: a chance of 1 in 6,000 at first, 1.3 % in a year. Such guesses do not lock the person out: browsers in which they have
 * used this second factor before have a bucket of their own, which all of them share and others cannot empty. Recovery
 * codes are not counted by person, so that one of them always works: ten in 2^50 are right, and an address has two tries a
 * second, a chance below 1 in 10^6 in a year.
 */
export function createCodeLimit(server: PagesServer) {
  const { limits: rates } = server.config;
  const { limits } = server.stores;
  const browsers = createKnownBrowser(server);

  function bucketsOf(ctx: Context, { accountId, secondFactor, typed }: Try): readonly Bucket[] {
    const rate = rates.secondFactor;
    if (secondFactor === undefined || readRecoveryCode(typed) !== undefined) {
      return [['sign-in-address', customerOf(ctx.ip), rates.signIn]];
    }
    if (browsers.known(ctx, { secondFactor }) !== undefined) {
      return [['second-factor-browsers', accountId, rate]];
    }
    const overDays = { burst: rate.burst * DAYS.burst, per: rate.per * DAYS.per };
    return [
      ['second-factor', accountId, rate],
      ['second-factor-days', accountId, overDays],
    ];
  }

  return async (ctx: Context, tried: Try): Promise<Paid> => {
    const buckets = bucketsOf(ctx, tried);
    for (const bucket of buckets) {
      const spent = await limits.spend(...bucket);
      if (!spent.ok) return spent;
    }
    return {
      ok: true,
      async giveBack() {
        await Promise.all(buckets.map((bucket) => limits.giveBack(...bucket)));
      },
    };
  };
}
