import { createHmac } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import type Provider from 'oidc-provider';
import { derivedKey } from '#shared/base/derived-key.ts';
import { randomId } from '#shared/base/random.ts';
import { customerOf } from '#shared/http/forwarded.ts';
import { arrive } from '#shared/people/arrive.ts';
import { SUBJECT } from '#shared/people/identities.ts';
import { note } from '#shared/server/message/request-log.ts';
import { bySource } from '../../base/acting.ts';
import type { PagesServer } from '../../base/server.ts';
import { arrivalOf } from '../../sources/claims.ts';
import { ProviderError, type RoundTrip, type Statements } from '../../sources/provider.ts';
import type { Source } from '../../sources/sources.ts';
import { PageError } from '../frame/page-error.ts';
import { answerWith, seeOther } from '../frame/respond.ts';
import { createTickets } from '../frame/tickets.ts';
import { createViewOf } from '../frame/view-of.ts';
import { reservedNames } from '../registration/reserved-names.ts';
import { createArrivals } from '../sign-in/provider-sign-in.ts';
import { isRecent, RECENT } from '../sign-in/recent.ts';
import { createBrowserSessions } from '../sign-in/session.ts';
import { checkedContinue } from '../sign-in/sign-in.ts';
import { type NotArrivedKind, notArrivedPage } from '../views/not-arrived.ts';
import { createOffers, LINKED_PATH } from './offers.ts';

/** A browser on its way to a provider and back. */
interface Trip {
  /** The name of the source. */
  readonly source: string;
  /** The nonce and the PKCE verifier are derived from it. */
  readonly seed: string;
  /** Milliseconds since the epoch: the person must authenticate there after this time. Absent: a session is enough. */
  readonly after?: number;
  /** The path that follows. */
  readonly goOn: string;
  /** The session (`uid`) whose person links the account. Absent: the account signs in. */
  readonly link?: string;
}

/** Seconds for which a person may be at a provider. */
const LIFE = 600;
/** The longest path that a trip carries: some providers bound the length of `state`. */
const LONGEST = 512;
const INTERACTION = /^\/interaction\/([\w-]{1,64})$/;

/**
 * Whether a client asks for a person who authenticates anew (OpenID Connect Core 1.0 section 3.1.2.1). The request
 * decides, not the reason of the page: a page on which a person chooses another account has another reason.
 */
const isAskedAnew = ({ prompt, max_age }: Readonly<Record<string, unknown>>) =>
  max_age !== undefined || (typeof prompt === 'string' && prompt.split(' ').includes('login'));

/** The way to a provider, and back. */
export function sourceHandlers(
  server: PagesServer,
  provider: Provider,
): Readonly<Record<'start' | 'callback', Middleware>> {
  const { config, stores, clock, random, master, directory } = server;
  const trips = createTickets<Trip>(server, { name: 'trip to a provider', life: LIFE });
  const arrivals = createArrivals(server);
  const offers = createOffers(server);
  const { currentVisitor } = createBrowserSessions(server, provider);
  const viewOf = createViewOf(server);
  const reserved = reservedNames(config);
  const key = derivedKey(master, 'countersign authz trip');
  const derived = (seed: string, what: string) =>
    createHmac('sha256', key).update(`${what} ${seed}`).digest('base64url');

  const roundTrip = (state: string, { seed, after }: Trip): RoundTrip => ({
    state,
    nonce: derived(seed, 'nonce'),
    verifier: derived(seed, 'verifier'),
    ...(after !== undefined && { after }),
  });

  function sourceOf(ctx: Context): Source {
    const source = server.sources.get(String(ctx['params'].source));
    if (source === undefined) throw new PageError(404, 'not-found');
    return source;
  }

  /** Tells the person why they do not come in. `why`: the reason in the log. */
  function tell(
    ctx: Context,
    { config: { name }, title }: Source,
    kind: NotArrivedKind,
    goOn: string,
    why: string = kind,
  ): void {
    note(ctx.req, { reason: `${name}: ${why}` });
    answerWith(ctx, notArrivedPage(viewOf(ctx), { kind, title, goOn }));
  }

  /** Tells the person about a provider that fails. Rejects with any other error. */
  function tellFailure(ctx: Context, source: Source, error: unknown, goOn: string): void {
    if (!(error instanceof ProviderError)) throw error;
    tell(ctx, source, error.kind, goOn, error.message);
  }

  /** Whether the person has to authenticate anew, for a page or a client that needs a sign-in of this moment. */
  async function isAnew(ctx: Context, goOn: string): Promise<boolean> {
    const [, uid] = INTERACTION.exec(goOn) ?? [];
    if (uid === undefined) return (await currentVisitor(ctx)) !== undefined;
    const { params = {} } = (await stores.artefacts.get('Interaction', uid)) ?? {};
    return isAskedAnew(params as Readonly<Record<string, unknown>>);
  }

  /** The path that follows a sign-in: an interaction of the engine, or one of our pages. */
  function wayOn(query: URLSearchParams): string {
    const asked = query.get('continue') ?? '';
    const goOn = INTERACTION.test(asked) ? asked : checkedContinue(asked, config.issuer);
    return goOn.length > LONGEST ? (goOn.split('?')[0] ?? '') : goOn;
  }

  /** Links the account, after the person has confirmed it on the next page. */
  function offer(ctx: Context, source: Source, { link = '' }: Trip, said: Statements): void {
    const { email, preferred_username: name = email, name: shown = name } = said.claims;
    const label = typeof shown === 'string' ? shown.slice(0, 100) : said.subject;
    const identity = { source: source.config.name, subject: said.subject };
    const ticket = offers.make(ctx, { ...identity, label, session: link });
    seeOther(ctx, `${LINKED_PATH}?${new URLSearchParams({ account: ticket }).toString()}`);
  }

  /** Leads a person who may come in to the page that signs them in. False: the answer says why they may not. */
  async function signIn(
    ctx: Context,
    source: Source,
    { goOn }: Trip,
    said: Statements,
  ): Promise<boolean> {
    const refuse = (kind: NotArrivedKind) => {
      tell(ctx, source, kind, goOn);
      return false;
    };
    const { name, newcomers } = source.config;
    const arrival = arrivalOf(source.config, said);
    const policy = { newcomers: newcomers === 'created', reserved };
    const found = await arrive(bySource(server, ctx), arrival, policy);
    if (typeof found === 'string') return refuse(found);
    const generation = await stores.revocations.generation('person', found.id);
    if ((await directory.find(found.id)) === undefined) return refuse('disabled');
    const door = INTERACTION.test(goOn) ? `${goOn}/login` : '/sign-in';
    const ticket = arrivals.make(ctx, {
      accountId: found.id,
      generation,
      identity: { source: name, subject: said.subject },
      since: sinceOf(said),
      door,
      ...(said.sid !== undefined && { sid: said.sid }),
    });
    seeOther(ctx, `${door}?${new URLSearchParams({ arrival: ticket, continue: goOn }).toString()}`);
    return true;
  }

  /**
   * When the person authenticated. A provider that does not say so gives no recent sign-in. An old session there lasts at
   * least half as long here as a new sign-in.
   */
  function sinceOf({ at }: Statements): number {
    const now = clock.now();
    return Math.min(now, Math.max(at ?? now - RECENT - 1, now - config.people.session * 500));
  }

  return {
    async start(ctx) {
      const source = sourceOf(ctx);
      const query = new URLSearchParams(ctx.querystring);
      const isLink = query.get('do') === 'link';
      const visitor = isLink ? await currentVisitor(ctx) : undefined;
      if (isLink && (visitor === undefined || !isRecent(visitor, server))) {
        return seeOther(ctx, LINKED_PATH);
      }
      const goOn = isLink ? LINKED_PATH : wayOn(query);
      const trip: Trip = {
        source: source.config.name,
        seed: randomId(random),
        ...(!isLink && (await isAnew(ctx, goOn)) && { after: clock.now() }),
        goOn,
        ...(visitor && { link: visitor.session.uid }),
      };
      try {
        const state = trips.make(ctx, trip);
        const url = await source.provider.start(roundTrip(state, trip));
        seeOther(ctx, url);
      } catch (error) {
        tellFailure(ctx, source, error, goOn);
      }
    },

    async callback(ctx) {
      const source = sourceOf(ctx);
      const query = new URLSearchParams(ctx.querystring);
      const state = query.get('state') ?? '';
      // HEAD is safe, so it must not use the code up (RFC 9110 section 9.2.1).
      const trip = ctx.method === 'HEAD' ? undefined : await trips.use(ctx, state);
      if (trip?.source !== source.config.name) return tell(ctx, source, 'late', '/account');
      const who = customerOf(ctx.ip);
      const bucket = ['sign-in-address', who, config.limits.signIn] as const;
      const spent = await stores.limits.spend(...bucket);
      if (!spent.ok) throw new PageError(429, 'later');
      try {
        const said = await source.provider.redeem(query, roundTrip(state, trip));
        if (!SUBJECT.test(said.subject)) throw new ProviderError('wrong', 'the subject is no text');
        if (trip.link !== undefined) offer(ctx, source, trip, said);
        else if (!(await signIn(ctx, source, trip, said))) return;
        await stores.limits.giveBack(...bucket);
      } catch (error) {
        tellFailure(ctx, source, error, trip.goOn);
      }
    },
  };
}
