import type { Context } from 'koa';
import type Provider from 'oidc-provider';
import { note } from '#shared/server/message/request-log.ts';
import { findSignIn } from '#shared/people/access/sign-ins.ts';
import type { PagesServer } from '../base/server.ts';
import { createBrowserSessions } from './sign-in/session.ts';

/** Seconds for which a browser that sends a form again gets the answer to the first request. */
export const KEPT = 30;

/** A stored answer, which the browser may not have received. */
export interface Given {
  readonly status: number;
  readonly fields: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  readonly body: string;
  /** `uid` of the session after the answer. */
  readonly session: string | undefined;
}

/** Header fields that belong to a single answer, and are not repeated. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['content-length', 'set-cookie', 'x-request-id']);

/** Stores answers, and repeats them to the same browser. */
export function createGivenAgain(server: PagesServer, provider: Provider) {
  const { currentVisitor } = createBrowserSessions(server, provider);
  const cookie = provider.cookieName('session');
  const isOfSession = (line: string) =>
    line.startsWith(`${cookie}=`) || line.startsWith(`${cookie}.sig=`);

  return {
    /** Stores an answer. If the store fails, the browser still gets the answer. */
    async keepBy(ctx: Context, put: () => Promise<unknown>): Promise<void> {
      try {
        await put();
      } catch (error) {
        note(ctx.req, { reason: `the answer cannot be given again: ${String(error)}` });
      }
    },

    givenBy(ctx: Context, session: string | undefined): Given {
      const fields = Object.entries(ctx.response.headers).filter(([name]) => !OWN_FIELDS.has(name));
      return {
        status: ctx.status,
        fields: Object.fromEntries(fields.map(([name, value]) => [name, String(value)])),
        cookies: cookiesOf(ctx),
        body: typeof ctx.body === 'string' ? ctx.body : '',
        session,
      };
    },

    /**
     * Returns the cookies for a repeated answer. Undefined: the person of that time is no longer signed in, or another
     * person is.
     */
    async cookiesAgain(ctx: Context, given: Given): Promise<readonly string[] | undefined> {
      const visitor = await currentVisitor(ctx);
      const { session, cookies } = given;
      if (visitor && visitor.session.uid !== session) return undefined;
      if (session !== undefined && !(await findSignIn(server, session))) return undefined;
      // The session of a browser may have got a new identifier meanwhile.
      const newest = `${cookie}=${visitor?.session.jti};`;
      const isOlder = visitor && !cookies.some((line) => line.startsWith(newest));
      return isOlder
        ? [...cookiesOf(ctx), ...cookies.filter((line) => !isOfSession(line))]
        : [...cookiesOf(ctx).filter((line) => !isOfSession(line)), ...cookies];
    },
  };
}

const cookiesOf = ({ res }: Context): readonly string[] =>
  [res.getHeader('Set-Cookie') ?? []].flat().map(String);
