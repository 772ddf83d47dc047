import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import type { Turn } from '#shared/base/line.ts';
import { customerOf } from '#shared/http/forwarded.ts';
import { turnAt, turnOf } from '#shared/http/turn.ts';
import { clientOf } from '#shared/server/message/message.ts';
import type { LimitNamespace, Rate } from '#shared/stores/limits/limits.ts';
import type { PagesServer } from '../../base/server.ts';
import type { Shown, Unfinished } from './attempt.ts';
import { createKnownBrowser, type Proof } from './known-browser.ts';

type Bucket = readonly [namespace: LimitNamespace, key: string, rate: Rate];

interface Terms {
  /** The buckets from which the attempt takes a token each, in this order. */
  readonly buckets: readonly Bucket[];
  readonly turn: Turn;
}

/** The attempt was not made, because a limit was reached. `seconds`: until the next attempt is allowed. */
interface Later {
  readonly kind: 'later';
  readonly seconds: number;
}

export interface AttemptLimits {
  /**
   * Makes a sign-in attempt, if the limits allow it. `name` is undefined if it is not known yet. A browser in which the
   * person has signed in before has buckets of its own, which other browsers cannot empty. Its attempts run one at a
   * time for each person, those of other browsers one at a time for each IP address. A completed sign-in returns its
   * tokens to the buckets. An attempt that ends with 503 does not: while the audit log cannot be written, a guesser
   * would have unlimited attempts.
   */
  limited<Outcome extends Shown | Unfinished | { readonly problem: unknown }>(
    ctx: Context,
    name: string | undefined,
    attempt: (turn: Turn) => Promise<Outcome>,
  ): Promise<Outcome | { readonly problem: Later }>;
  /**
   * Call this after the last step of an attempt. It returns the tokens to the buckets, and remembers the browser for
   * both factors.
   */
  settle(ctx: Context, name: string, secondFactor: string): Promise<void>;
}

/**
 * All known browsers of a person together have this many times the limit of one browser. So a person cannot get
 * unlimited guesses by signing in with many browsers.
 */
const BROWSERS = 3;

/** Limits sign-in attempts. */
export function createAttemptLimits(server: PagesServer): AttemptLimits {
  const { config, stores } = server;
  const { limits } = stores;
  const browsers = createKnownBrowser(server);

  function termsOf(ctx: Context, name: string | undefined): Terms {
    const { account, signIn } = config.limits;
    const client = clientOf(ctx.req);
    const byAddress: Bucket = ['sign-in-address', customerOf(ctx.ip), signIn];
    const turn = turnAt(ctx.ip, client);
    if (name === undefined) return { buckets: [byAddress], turn };
    const key = createHash('sha256').update(name).digest('base64url');
    const browser = browsers.known(ctx, name);
    if (browser !== undefined) {
      const ofAll = { burst: account.burst * BROWSERS, per: account.per / BROWSERS };
      const buckets: readonly Bucket[] = [
        ['sign-in-browser', `${browser} ${key}`, account],
        ['sign-in-browsers', key, ofAll],
      ];
      return { buckets, turn: turnOf(name, client) };
    }
    return { buckets: [byAddress, ['sign-in-name', key, account]], turn };
  }

  async function giveBack(
    ctx: Context,
    buckets: readonly Bucket[],
    ...proofs: readonly Proof[]
  ): Promise<void> {
    // Returns only the tokens of this attempt. A guesser cannot get tokens back by signing in as another person.
    await Promise.all(buckets.map((bucket) => limits.giveBack(...bucket)));
    browsers.remember(ctx, ...proofs);
  }

  return {
    async limited(ctx, name, attempt) {
      const { buckets, turn } = termsOf(ctx, name);
      for (const bucket of buckets) {
        const paid = await limits.spend(...bucket);
        if (!paid.ok) return { problem: { kind: 'later', seconds: paid.retryAfter } };
      }
      const made = await attempt(turn);
      if ('person' in made) await giveBack(ctx, buckets, made.person.name);
      return made;
    },
    settle: (ctx, name, secondFactor) =>
      giveBack(ctx, termsOf(ctx, name).buckets, name, { secondFactor }),
  };
}
