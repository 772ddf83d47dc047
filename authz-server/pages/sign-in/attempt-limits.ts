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
  /** From all of which the attempt is paid, in this order. */
  readonly buckets: readonly Bucket[];
  readonly turn: Turn;
}

/** The attempt is not made; `seconds`: until one may be. */
interface Later {
  readonly kind: 'later';
  readonly seconds: number;
}

export interface AttemptLimits {
  /**
   * Carries an attempt out that somebody of this name makes, if it can be paid for; undefined: nobody knows whose it is. A
   * browser in which the person has signed in before pays from buckets of the person's browsers alone: others cannot empty them. Its
   * work waits for the person's turn, that of others for the turn of their address. A right
   * attempt gets back what it has paid, once nothing more is asked for. One that ends with 503 does not: while the audit log
   * cannot be written, a guesser would have as many as they like.
   */
  limited<Outcome extends Shown | Unfinished | { readonly problem: unknown }>(
    ctx: Context,
    name: string | undefined,
    attempt: (turn: Turn) => Promise<Outcome>,
  ): Promise<Outcome | { readonly problem: Later }>;
  /** After the last step of an attempt: gives back what it has paid, and remembers the browser for both factors. */
  settle(ctx: Context, name: string, secondFactor: string): Promise<void>;
}

/**
 * All known browsers of a person have so many times what one has. Somebody who has made many of them known, with their own
 * name, gets no more guesses at it by that.
 */
const BROWSERS = 3;

/** Limits how often somebody may try to sign in. */
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
    // The one attempt, no more: who guesses does not get theirs back by signing in as somebody else.
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
