import type { Context } from 'koa';
import type Provider from 'oidc-provider';
import { notFound } from '#shared/http/answer.ts';
import { note } from '#shared/server/message/request-log.ts';
import { adminSignIn } from '../../base/admin-sign-in.ts';
import { isAdministrator } from '../../base/administrator.ts';
import type { PagesServer } from '../../base/server.ts';
import { answerWith } from '../frame/respond.ts';
import { createBrowserSessions, type Visitor } from '../sign-in/session.ts';
import { tellError } from '../views/tell-error.ts';

export const ADMIN_PATH = '/admin';

/** An administrator, and whether their sign-in is good enough and recent. */
export interface Admitted {
  readonly visitor: Visitor;
  readonly isEnough: boolean;
}

/**
 * Returns who asks for a page of administrators. Anybody else gets the answer of an address where nothing is, before
 * anything else about the request is looked at; then this is undefined. The store is asked each time, so that an end or a
 * demotion counts at the next request.
 */
export function createAdmission(
  server: PagesServer,
  provider: Provider,
): (ctx: Context) => Promise<Admitted | undefined> {
  const { currentVisitor } = createBrowserSessions(server, provider);
  const stepUp = adminSignIn(server);

  return async (ctx) => {
    const visitor = await currentVisitor(ctx);
    const principal = visitor && principalOf(visitor);
    if (principal === undefined || !(await isAdministrator(server.stores, principal))) {
      note(ctx.req, { reason: 'no administrator is signed in' });
      answerWith(ctx, tellError(server, ctx.req, notFound()));
      return undefined;
    }
    return { visitor: visitor as Visitor, isEnough: stepUp(ctx.method, principal) === undefined };
  };
}

const principalOf = ({ person, signIn: { assurance, since } }: Visitor) => ({
  kind: 'person' as const,
  realm: '',
  name: person.id,
  authentication: { acr: assurance.acr, authTime: Math.floor(since / 1000) },
});
