import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import type { Authenticated } from '#shared/people/directory.ts';
import { usernameCaseMapped } from '#shared/people/names/precis.ts';
import { customerOf } from '#shared/http/forwarded.ts';
import type { LimitNamespace, Rate } from '#shared/stores/limits/limits.ts';
import { createKnownBrowser } from './known-browser.ts';
import type { PagesServer } from '../../base/server.ts';
import type { SignInProps } from '../frame/view.ts';

export type Attempt =
  | { readonly person: Authenticated }
  | { readonly problem: NonNullable<SignInProps['problem']> };

type Bucket = readonly [namespace: LimitNamespace, key: string, rate: Rate];

/** Checks `name` and `password` of a sign-in form. */
export type PasswordSignIn = (ctx: Context, form: URLSearchParams) => Promise<Attempt>;

/**
 * Attempts are paid for before anything is hashed, by the name that was typed and whether or not there
 * is such a person, so that neither the answer nor the work tells who exists. A browser in which the
 * person has signed in before pays from a bucket of its own alone: others cannot empty it. A right
 * password gets back what its attempt has paid.
 */
export function createPasswordSignIn(server: PagesServer): PasswordSignIn {
  const { config, directory, stores } = server;
  const { limits } = stores;
  const browsers = createKnownBrowser(server);

  /** From all of which an attempt is paid, in this order. */
  function bucketsOf(ctx: Context, name: string): readonly Bucket[] {
    const { account, signIn } = config.limits;
    const key = createHash('sha256').update(name).digest('base64url');
    const browser = browsers.known(ctx, name);
    if (browser !== undefined) return [['sign-in-browser', `${browser} ${key}`, account]];
    return [
      ['sign-in-address', customerOf(ctx.ip), signIn],
      ['sign-in-name', key, account],
    ];
  }

  return async (ctx, form) => {
    const typed = form.get('name') ?? '';
    const name = usernameCaseMapped(typed) ?? typed;
    const buckets = bucketsOf(ctx, name);
    for (const bucket of buckets) {
      const paid = await limits.spend(...bucket);
      if (!paid.ok) return { problem: { kind: 'later', seconds: paid.retryAfter } };
    }
    const person = await directory.authenticate(typed, form.get('password') ?? '');
    if (person === undefined) return { problem: { kind: 'wrong' } };
    // The one attempt, no more: who guesses does not get theirs back by signing in as somebody else.
    await Promise.all(buckets.map((bucket) => limits.giveBack(...bucket)));
    browsers.remember(ctx, name);
    return { person };
  };
}
