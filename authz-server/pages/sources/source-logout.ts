import type { Context, Middleware } from 'koa';
import { endSignInsBy } from '#shared/people/linked-identities.ts';
import { identityAlias } from '#shared/people/names/aliases.ts';
import { note } from '#shared/server/message/request-log.ts';
import { bySource } from '../../base/acting.ts';
import type { PagesServer } from '../../base/server.ts';
import type { LogoutToken } from '../../sources/logout-token.ts';
import { ProviderError } from '../../sources/provider.ts';
import { readForm } from '../frame/csrf.ts';
import { PageError } from '../frame/page-error.ts';
import { noteEnded } from '../sign-in/provider-sign-in.ts';

/** Seconds for which a used logout token is remembered: longer than it is valid. */
const REMEMBERED = 660;

/**
 * Takes a logout token of a source (OpenID Connect Back-Channel Logout 1.0 section 2.5). It ends the sign-ins by that
 * session there, or all sign-ins of the person by that source. The applications of these sign-ins are told in turn. A
 * token about an unknown person or session is accepted: nothing of theirs is open here.
 */
export function sourceLogout(server: PagesServer): Middleware {
  const { stores } = server;

  async function end(ctx: Context, source: string, { subject, sid }: LogoutToken): Promise<void> {
    const identity = { source, subject };
    if (sid !== undefined) await noteEnded(server, { identity, sid });
    const person = await stores.people.getByAlias(identityAlias(identity));
    if (person === undefined) return;
    await endSignInsBy(
      bySource(server, ctx),
      person.id,
      (one, session) =>
        one.source === source && one.subject === subject && (sid === undefined || session === sid),
    );
  }

  return async (ctx) => {
    ctx.set('Cache-Control', 'no-store');
    const source = server.sources.get(String(ctx['params'].source));
    const refuse = (status: number, description: string) => {
      note(ctx.req, { reason: description });
      ctx.status = status;
      ctx.body = { error: 'invalid_request', error_description: description };
    };
    if (source === undefined) return refuse(404, 'there is no such source');
    const { name } = source.config;
    try {
      const form = await readForm(ctx);
      const [token, ...more] = form.getAll('logout_token');
      if (token === undefined || more.length > 0) {
        return refuse(400, 'logout_token must be there once');
      }
      const logout = await source.provider.ended(token);
      const used = ['logout token', JSON.stringify([name, logout.jti])] as const;
      if (await stores.replay.seen(...used)) return refuse(400, 'the logout token was used before');
      await end(ctx, name, logout);
      // Only now: if the store fails before, the provider can send the token again.
      await stores.replay.unique(...used, REMEMBERED);
      ctx.status = 200;
      ctx.body = '';
    } catch (error) {
      if (error instanceof PageError) return refuse(error.props.status, 'the content is no form');
      if (!(error instanceof ProviderError)) throw error;
      if (error.kind === 'unavailable') ctx.set('Retry-After', '30');
      return refuse(error.kind === 'unavailable' ? 503 : 400, error.message);
    }
  };
}
