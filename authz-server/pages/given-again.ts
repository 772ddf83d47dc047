import type { Context } from 'koa';
import type Provider from 'oidc-provider';
import { note } from '#shared/server/message/request-log.ts';
import { findSignIn } from '#shared/people/access/sign-ins.ts';
import type { PagesServer } from '../base/server.ts';
import { createBrowserSessions } from './sign-in/session.ts';

/** Seconds for which a browser that sends a form again gets the answer to the first. */
export const KEPT = 30;

/** An answer that a browser may have lost. */
export interface Given {
  readonly status: number;
  readonly fields: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  readonly body: string;
  /** `uid` of the session of who was signed in after it. */
  readonly session: string | undefined;
}

/** Fields of one request alone. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['content-length', 'set-cookie', 'x-request-id']);

/** Answers that are given a second time to the browser that they were for. */
export function createGivenAgain(server: PagesServer, provider: Provider) {
  const { currentVisitor } = createBrowserSessions(server, provider);
  const cookie = provider.cookieName('session');
  const isOfSession = (line: string) =>
    line.startsWith(`${cookie}=`) || line.startsWith(`${cookie}.sig=`);

  return {
    /** Keeps an answer. If the store fails just then, the browser gets the answer all the same. */
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

    /** The cookies that go with it now. Undefined: who was signed in then is no longer, or somebody else is. */
    async cookiesAgain(ctx: Context, given: Given): Promise<readonly string[] | undefined> {
      const visitor = await currentVisitor(ctx);
      const { session, cookies } = given;
      if (visitor && visitor.session.uid !== session) return undefined;
      if (session !== undefined && !(await findSignIn(server, session))) return undefined;
      // A browser that is signed in may have got a newer identifier of the session meanwhile.
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
