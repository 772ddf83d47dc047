import { lookUp } from '#shared/auth/judge/about.ts';
import type { Jwks } from '#shared/auth/tokens/jwks.ts';
import type { About, AuthRequest, Scheme } from '#shared/auth/scheme.ts';
import { session } from '#shared/auth/schemes/session/session.ts';
import { createSessions } from '#shared/auth/schemes/session/sessions.ts';
import type { TokenVerifier } from '#shared/auth/tokens/token-verifier.ts';
import type { Send } from '#shared/client/send.ts';
import { isProduction } from '#shared/config/production.ts';
import {
  CALLBACK_PATH,
  SIGN_OUT_PATH,
  type SignInSpace,
  signInSpaces,
} from '#shared/config/sign-in-clients.ts';
import type { Answer } from '#shared/http/answer.ts';
import type { Brand } from '#shared/pages/document.ts';
import { authRequest, type Recipient } from '#shared/server/endpoints/auth-request.ts';
import type { Endpoint } from '#shared/server/endpoints/endpoint.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import type { Parts } from '#shared/server/process.ts';
import { note, shownId } from '#shared/server/message/request-log.ts';
import { longestLife } from '#shared/stores/revocation/lifetime.ts';
import { createCallback } from './callback.ts';
import { createPages } from './pages.ts';
import { createRedeem } from './redeem.ts';
import { createSignIn, type Met } from './sign-in.ts';
import { createSignOut } from './sign-out.ts';
import { createVisits } from './visits.ts';

export interface SignInOptions extends Parts {
  readonly jwks: Jwks;
  readonly tokens: TokenVerifier;
  /** Sends requests to the authorization server by its internal URL. */
  readonly send: Send;
  readonly recipient: Recipient;
  readonly brand: Brand;
}

/** Sign-in in front of applications. */
export interface SignIn {
  /** The session scheme of a space where people sign in; undefined for other spaces. */
  session(space: { readonly url: string }): Scheme | undefined;
  about(id: string): Promise<About | undefined>;
  /** The answer that replaces a refusal so that a person can continue; undefined if the refusal stays. */
  instead(met: Omit<Met, 'space'> & { readonly url: string }): Answer | undefined;
  /** The server's own endpoint of an origin below `/.countersign/`. */
  endpointAt(path: string, origin: string): Endpoint | undefined;
  /** True if people sign in at an origin. */
  has(origin: string): boolean;
}

export function openSignIn(options: SignInOptions): SignIn {
  const { config, stores, feed, clock, random, recipient } = options;
  const {
    issuer,
    tokens: { skew },
  } = config;
  const spaces = new Map(signInSpaces(config).map((space) => [space.url, space]));
  const sessions = createSessions({ artefacts: stores.artefacts, clock, random });
  const about = lookUp(stores.people, !isProduction(config));
  const visits = createVisits({ ...options, skew });
  const pages = createPages({ brand: options.brand, issuer: config.issuer });
  const access = { stores, clock, longestLife: longestLife(config) };
  const instead = createSignIn({ config, visits, pages });
  const redeem = createRedeem({ ...options, issuer, skew });
  const callback = createCallback({ config, stores, sessions, visits, pages, redeem, clock });
  const { ask, signOut } = createSignOut({ access, sessions, pages });

  /** An endpoint that needs no authentication. */
  const endpoint = (
    own: readonly SignInSpace[],
    origin: string,
    byMethod: Readonly<
      Record<
        string,
        (of: readonly SignInSpace[], asked: AuthRequest, request: AnyRequest) => Promise<Answer>
      >
    >,
  ): Endpoint => ({
    methods: Object.keys(byMethod),
    async answer(request) {
      const { method = '', url: target = '' } = request;
      const asked = authRequest(request, { method, target, origin }, recipient);
      const answered = byMethod[method];
      if (answered === undefined) throw new Error(`no handler of ${method}`);
      return answered(own, asked, request);
    },
  });

  const comeBack = (of: readonly SignInSpace[], asked: AuthRequest, request: AnyRequest) =>
    callback(of, asked, {
      note: (reason) => note(request, { verdict: 'refused', reason }),
      id: shownId(request),
    });

  const byOrigin = new Map(
    [...Map.groupBy(spaces.values(), ({ origin }) => origin)].map(([origin, own]) => [
      origin,
      new Map([
        [
          CALLBACK_PATH,
          endpoint(own, origin, {
            GET: comeBack,
            HEAD: comeBack,
          }),
        ],
        [SIGN_OUT_PATH, endpoint(own, origin, { GET: ask, HEAD: ask, POST: signOut })],
      ]),
    ]),
  );

  return {
    session({ url }) {
      const space = spaces.get(url);
      return (
        space && session({ space, sessions, feed, about, secondFactor: config.people.secondFactor })
      );
    },
    about,
    instead({ url, ...met }) {
      const space = spaces.get(url);
      return space && instead({ space, ...met });
    },
    endpointAt: (path, origin) => byOrigin.get(origin)?.get(path),
    has: (origin) => byOrigin.has(origin),
  };
}
