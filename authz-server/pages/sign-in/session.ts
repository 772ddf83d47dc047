import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import type Provider from 'oidc-provider';
import { endSignIn, findSignIn, recordSignIn } from '#shared/people/access/sign-ins.ts';
import { howOf } from '#shared/people/access/assurance.ts';
import type { AuditEvent } from '#shared/audit/event-kinds.ts';
import { asPerson } from '../../base/acting.ts';
import type { SignIn } from '#shared/people/access/sign-ins.ts';
import type { Person } from '#shared/people/directory.ts';
import { isEnoughNow, isSourceThere } from '../../base/enough-now.ts';
import type { PagesServer } from '../../base/server.ts';
import type { Shown } from './attempt.ts';

export type Session = InstanceType<Provider['Session']>;

/** The person who is signed in with the browser that asks. */
export interface Visitor {
  readonly person: Person;
  readonly signIn: SignIn;
  /** The session of the engine (oidc-provider). */
  readonly session: Session;
}

export interface BrowserSessions {
  /** Returns the person who is signed in. Undefined: no person is signed in, or the sign-in has ended. */
  currentVisitor(ctx: Context): Promise<Visitor | undefined>;
  /** Whether the browser sends a session, which may have ended. */
  hasSession(ctx: Context): boolean;
  /**
   * Signs in a person who has authenticated. The session gets a new identifier, so that an identifier which an attacker
   * planted never becomes signed in. Another person's session ends first.
   */
  signInVisitor(ctx: Context, shown: Shown): Promise<Visitor>;
  /**
   * Keeps this visitor signed in after all sign-ins of the person have ended, with the new generation. Time and means
   * of the sign-in stay: it is no new sign-in.
   */
  keepVisitor(ctx: Context, visitor: Visitor, generation: number): Promise<void>;
  /** Signs the browser out, and ends the grants of the session. */
  signOutVisitor(ctx: Context, visitor: Visitor): Promise<void>;
  /** Returns the `uid` of the signed-in session that the browser has after the answer. */
  sessionAfter(ctx: Context): Promise<string | undefined>;
  /** Removes a session without a sign-in from the store and the browser. */
  forget(ctx: Context, session: Session): Promise<void>;
}

/** Where and with what program a person signs in, for the account page. */
export function originOf(ctx: Context): Pick<SignIn, 'address' | 'agent'> {
  const agent = ctx.get('User-Agent').slice(0, LONGEST_AGENT);
  return { address: ctx.ip, ...(agent !== '' && { agent }) };
}

const LONGEST_AGENT = 512;

/** The `uid` of the session that the answer to a request sets. Undefined: the answer removes the session. */
const AFTER = new WeakMap<IncomingMessage, string | undefined>();

export function createBrowserSessions(server: PagesServer, provider: Provider): BrowserSessions {
  const { config, clock, directory } = server;
  const lifetime = config.people.session;
  const cookie = provider.cookieName('session');

  async function visitorOf(session: Session): Promise<Visitor | undefined> {
    if (session.accountId === undefined) return undefined;
    const [signIn, person] = await Promise.all([
      findSignIn(server, session.uid),
      directory.find(session.accountId),
    ]);
    if (signIn?.accountId !== session.accountId || person === undefined) return undefined;
    if (!isEnoughNow(server, person, signIn.assurance.acr)) return undefined;
    if (!isSourceThere(server, signIn.identity)) return undefined;
    return { person, signIn, session };
  }

  async function end(ctx: Context, { signIn, session }: Visitor): Promise<void> {
    const { uid: id, accountId: person } = signIn;
    const ended = { kind: 'sign-in.ended', person, id } as const;
    await endSignIn(asPerson(server, person, ctx), signIn, ended);
    await session.destroy();
  }

  /** Writes a sign-in with its session, and gives the browser the session. */
  async function begin(
    ctx: Context,
    session: Session,
    signIn: SignIn,
    ...events: readonly AuditEvent[]
  ): Promise<void> {
    const { acr, amr } = signIn.assurance;
    const loginTs = Math.floor(signIn.since / 1000);
    session.loginAccount({ accountId: signIn.accountId, acr, amr: [...amr], loginTs });
    // Both are committed together. No browser knows the session's identifier yet, and a session without a sign-in
    // belongs to no person.
    const acting = asPerson(server, signIn.accountId, ctx);
    await Promise.all([recordSignIn(acting, signIn, lifetime, ...events), session.save(lifetime)]);
    AFTER.set(ctx.req, session.uid);
    ctx.cookies.set(cookie, session.jti, {
      httpOnly: true,
      sameSite: 'lax',
      overwrite: true,
      maxAge: lifetime * 1000,
    });
  }

  const dropCookie = (ctx: Context) => {
    AFTER.set(ctx.req, undefined);
    ctx.cookies.set(cookie, null, { httpOnly: true, sameSite: 'lax', overwrite: true });
  };

  const currentVisitor: BrowserSessions['currentVisitor'] = async (ctx) =>
    visitorOf(await provider.Session.get(ctx));

  return {
    currentVisitor,
    hasSession: (ctx) => ctx.cookies.get(cookie, { signed: false }) !== undefined,

    async sessionAfter(ctx) {
      return AFTER.has(ctx.req) ? AFTER.get(ctx.req) : (await currentVisitor(ctx))?.session.uid;
    },

    async signInVisitor(ctx, { person: { id, name, generation }, means, since = clock.now() }) {
      const earlier = await visitorOf(await provider.Session.get(ctx));
      const same = earlier?.person.id === id;
      if (earlier && !same) await end(ctx, earlier);
      const session = same ? earlier.session : new provider.Session();
      if (same) session.resetIdentifier();
      const signIn: SignIn = {
        uid: session.uid,
        accountId: id,
        generation,
        since,
        ...means,
        ...originOf(ctx),
      };
      const what = howOf(means.assurance);
      const event = { kind: 'sign-in', person: id, what, id: signIn.uid } as const;
      await begin(ctx, session, signIn, event);
      return { person: { id, name }, signIn, session };
    },

    async keepVisitor(ctx, { signIn }, generation) {
      const session = new provider.Session();
      await begin(ctx, session, { ...signIn, uid: session.uid, generation });
    },

    async signOutVisitor(ctx, visitor) {
      await end(ctx, visitor);
      dropCookie(ctx);
    },

    async forget(ctx, session) {
      await session.destroy();
      dropCookie(ctx);
    },
  };
}
