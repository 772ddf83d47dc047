import { errors } from 'jose';
import type { AuthRequest } from '#shared/auth/scheme.ts';
import { KeysUnavailable } from '#shared/auth/tokens/issuer-keys.ts';
import { cookieName, setCookie } from '#shared/auth/schemes/session/cookie.ts';
import { shownSecret } from '#shared/auth/schemes/session/session.ts';
import type { Sessions } from '#shared/auth/schemes/session/sessions.ts';
import { NoAnswer } from '#shared/client/send.ts';
import type { Config } from '#shared/config/schema.ts';
import type { SignInSpace } from '#shared/config/sign-in-clients.ts';
import { type Answer, HttpError } from '#shared/http/answer.ts';
import { customerOf } from '#shared/http/forwarded.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/spaces.ts';
import type { Pages } from './pages.ts';
import { NotRedeemed, type Redeemed } from './redeem.ts';
import { oneMoreArrival, startOf, toStart } from './sign-in.ts';
import type { Message } from './texts.ts';
import { VISIT, type Visit, type Visits } from './visits.ts';

interface CallbackParts {
  readonly config: Pick<Config, 'issuer' | 'people' | 'limits'>;
  readonly stores: Pick<Stores, 'replay' | 'limits'>;
  readonly sessions: Sessions;
  readonly visits: Visits;
  readonly pages: Pages;
  readonly redeem: (space: SignInSpace, visit: Visit, code: string) => Promise<Redeemed>;
  readonly clock: Clock;
}

/** The log line of a request. */
export interface Logged {
  /** Notes the reason for which a callback gave no session. */
  readonly note: (refused: Refusal) => void;
  /** The id of the log line, which the client may see. */
  readonly id: string | undefined;
}

/**
 * The answers to a person, by the error of the authorization server. Any other error means that signing in is not
 * possible now.
 */
const TOLD: Readonly<Record<string, readonly [status: number, message: Message]>> = {
  access_denied: [403, 'refused'],
  unmet_authentication_requirements: [403, 'unmet'],
};

const CODE = /^[\w-]{1,256}$/;

/**
 * The endpoint to which the authorization server redirects the browser (RFC 6749 section 4.1.2). `spaces`: those of the
 * requested origin. It leads to the path that this browser requested at the beginning, never to a path in the request.
 */
export function createCallback(parts: CallbackParts) {
  const { config, stores, sessions, visits, pages, redeem, clock } = parts;
  const { issuer, people, limits } = config;

  /** True once for each visit, in all processes. A repeated code revokes what its first use gave. */
  async function isFirst({ state }: Visit, { peer }: AuthRequest): Promise<boolean> {
    for (const [whose, rate] of [
      [customerOf(peer.address), limits.visits],
      ['all', limits.allVisits],
    ] as const) {
      const spent = await stores.limits.spend('visits', whose, rate);
      if (!spent.ok) {
        throw new HttpError(429, 'Too many sign-ins. Try again later.', {
          'Retry-After': String(spent.retryAfter),
        });
      }
    }
    return stores.replay.unique('sign-in visit', state, VISIT);
  }

  async function begin(space: SignInSpace, claims: Redeemed, request: AuthRequest) {
    const { sub, grant_id, acr, auth_time, jti, kid, client_id, sub_gen, client_gen, epoch } =
      claims;
    const since = auth_time ?? Math.floor(clock.now() / 1000);
    const until = (since + people.session) * 1000;
    const before = shownSecret(space, request);
    if (before !== undefined) await sessions.remove(before);
    const secret = await sessions.begin(
      {
        accountId: sub,
        grantId: grant_id,
        space: space.url,
        claims: {
          jti,
          kid,
          sub,
          client_id,
          grant_id,
          client_gen,
          epoch,
          ...(sub_gen !== undefined && { sub_gen }),
        },
        ...(acr !== undefined && { acr }),
        ...(auth_time !== undefined && { auth_time }),
        until,
      },
      space.idle,
    );
    const rest = Math.max(1, Math.floor((until - clock.now()) / 1000));
    return [
      setCookie(space.url, cookieName(space.url, 'session'), secret, rest),
      oneMoreArrival(space, request),
    ];
  }

  return async (
    spaces: readonly SignInSpace[],
    request: AuthRequest,
    { note, id }: Logged,
  ): Promise<Answer> => {
    const to = { language: request.lines('accept-language')[0], id };
    const { state = '', code, error, iss, twice } = parametersOf(request.target);
    const found = spaces
      .map((space) => ({ space, of: visits.find(space.url, state, request.cookies) }))
      .find(({ of }) => of !== undefined);
    // HEAD is safe, so it must not use up the code (RFC 9110 section 9.2.1).
    if (twice || found?.of === undefined || request.method === 'HEAD') {
      note(refuse('sign-in-not-begun'));
      return pages.message(400, 'notBegun', to, new URL(spaces[0]?.url ?? '/').pathname);
    }
    const { space } = found;
    if ('lost' in found.of) {
      note(refuse('sign-in-lost'));
      const { path, turn } = found.of.lost;
      const { visit, line } = visits.begin(space.url, path, request.cookies, turn + 1);
      return toStart(startOf(issuer, space, visit), [line]);
    }
    const { visit } = found.of;
    const back = inside(space, visit.path);
    // The issuer in the callback must be the expected one (RFC 9207 section 2.4).
    if (iss !== issuer) {
      note(refuse('sign-in-issuer'));
      return pages.message(400, 'notBegun', to, back);
    }
    if (error !== undefined || code === undefined || !CODE.test(code)) {
      const answer = (error ?? 'without a code').slice(0, 64);
      note(refuse('sign-in-error', { answer }));
      const [status, message] = TOLD[error ?? ''] ?? ([503, 'unavailable'] as const);
      return pages.message(status, message, to, back);
    }
    const there = { status: 303, fields: { Location: back, 'Cache-Control': 'no-store' } };
    try {
      if (!(await isFirst(visit, request))) {
        note(refuse('sign-in-used'));
        return there;
      }
      const lines = await begin(space, await redeem(space, visit, code), request);
      return { ...there, fields: { ...there.fields, 'Set-Cookie': lines } };
    } catch (failure) {
      if (!isExpected(failure)) throw failure;
      note(refuse('sign-in-failed', { why: failure.message }));
      return pages.message(503, 'unavailable', to, back);
    }
  };
}

const isExpected = (error: unknown): error is Error =>
  error instanceof NotRedeemed ||
  error instanceof NoAnswer ||
  error instanceof StoreUnavailable ||
  error instanceof KeysUnavailable ||
  error instanceof errors.JOSEError;

/** Returns the relevant parameters, and whether one of them is repeated (RFC 6749 section 3.1). */
function parametersOf(target: string) {
  const query = new URLSearchParams(target.slice(target.indexOf('?') + 1));
  const one = (name: string) => query.get(name) ?? undefined;
  return {
    state: one('state'),
    code: one('code'),
    error: one('error'),
    iss: one('iss'),
    twice: ['state', 'code', 'error', 'iss'].some((name) => query.getAll(name).length > 1),
  };
}

/** Returns an absolute URL at the origin, since browsers read a path that begins with two slashes as another host. */
function inside({ url, origin }: SignInSpace, path: string): string {
  const whole = URL.parse(origin + path);
  return whole?.origin === origin ? origin + path : url;
}
