import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import type { Authenticated } from '#shared/directory/directory.ts';
import { usernameCaseMapped } from '#shared/directory/precis.ts';
import { customerOf } from '#shared/http/forwarded.ts';
import type { Spent } from '#shared/stores/limits.ts';
import { createKnownBrowser } from './known-browser.ts';
import type { PagesServer } from './pages-server.ts';
import type { SignInProps } from './view.ts';

export type Attempt =
  | { readonly person: Authenticated }
  | { readonly problem: NonNullable<SignInProps['problem']> };

/** Checks `name` and `password` of a sign-in form. */
export type PasswordSignIn = (ctx: Context, form: URLSearchParams) => Promise<Attempt>;

/**
 * Attempts are paid for before anything is hashed, by the name that was typed and whether or not there
 * is such a person, so that neither the answer nor the work tells who exists. A browser in which the
 * person has signed in before pays from a bucket of its own alone: others cannot empty it.
 */
export function createPasswordSignIn(server: PagesServer): PasswordSignIn {
  const { config, directory, stores } = server;
  const { limits } = stores;
  const browsers = createKnownBrowser(server);

  async function pay(ctx: Context, name: string): Promise<Spent> {
    const key = createHash('sha256').update(name).digest('base64url');
    const browser = browsers.known(ctx, name);
    if (browser !== undefined) {
      return limits.spend('sign-in-browser', `${browser} ${key}`, config.limits.account);
    }
    const address = await limits.spend('sign-in-address', customerOf(ctx.ip), config.limits.signIn);
    return address.ok ? limits.spend('sign-in-name', key, config.limits.account) : address;
  }

  return async (ctx, form) => {
    const typed = form.get('name') ?? '';
    const name = usernameCaseMapped(typed) ?? typed;
    const paid = await pay(ctx, name);
    if (!paid.ok) return { problem: { kind: 'later', seconds: paid.retryAfter } };
    const person = await directory.authenticate(typed, form.get('password') ?? '');
    if (person === undefined) return { problem: { kind: 'wrong' } };
    browsers.remember(ctx, name);
    return { person };
  };
}
