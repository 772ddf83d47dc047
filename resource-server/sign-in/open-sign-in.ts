import { lookUp } from '#shared/auth/judge/about.ts';
import type { Jwks } from '#shared/auth/tokens/jwks.ts';
import type { About, Scheme } from '#shared/auth/scheme.ts';
import { session } from '#shared/auth/schemes/session/session.ts';
import { createSessions } from '#shared/auth/schemes/session/sessions.ts';
import type { TokenVerifier } from '#shared/auth/tokens/token-verifier.ts';
import type { Send } from '#shared/client/send.ts';
import { admittedBy } from '#shared/config/production.ts';
import { CALLBACK_PATH, SIGN_OUT_PATH, signInSpaces } from '#shared/config/sign-in-clients.ts';
import type { Answer } from '#shared/http/answer.ts';
import type { Brand } from '#shared/pages/document.ts';
import { authRequest, type Recipient } from '#shared/server/endpoints/auth-request.ts';
import type { Parts } from '#shared/server/process.ts';
import { note, shownId } from '#shared/server/message/request-log.ts';
import { longestLife } from '#shared/stores/revocation/lifetime.ts';
import type { PageContext, PageRoute } from '../answers/page-routes.ts';
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
  /** The session scheme of a space with sign-in. Undefined for other spaces. */
  session(space: { readonly url: string }): Scheme | undefined;
  about(id: string): Promise<About | undefined>;
  /** The answer that replaces a refusal, so that a person can sign in. Undefined: the refusal stays. */
  instead(met: Omit<Met, 'space'> & { readonly url: string }): Answer | undefined;
  /** The pages below `/.countersign/`, at each origin with sign-in. */
  readonly pages: readonly PageRoute[];
  /** True if an origin has a space with sign-in. */
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
  const about = lookUp(stores.people, admittedBy(config));
  const visits = createVisits({ ...options, skew });
  const pages = createPages({ brand: options.brand, issuer: config.issuer });
  const access = { stores, clock, longestLife: longestLife(config) };
  const instead = createSignIn({ config, visits, pages });
  const redeem = createRedeem({ ...options, issuer, skew });
  const callback = createCallback({ config, stores, sessions, visits, pages, redeem, clock });
  const { ask, signOut } = createSignOut({ access, sessions, pages });

  const byOrigin = Map.groupBy(spaces.values(), ({ origin }) => origin);
  /** Returns the spaces of the page's origin, and the request, which needs no authentication. */
  const askedOf = ({ req, state: { origin } }: PageContext) => {
    const { method = '', url: target = '' } = req;
    const asked = authRequest(req, { method, target, origin }, recipient);
    return [byOrigin.get(origin) ?? [], asked] as const;
  };

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
    pages: [
      [
        'GET',
        CALLBACK_PATH,
        (context) =>
          callback(...askedOf(context), {
            note: (refused) => note(context.req, { verdict: 'refused', ...refused }),
            id: shownId(context.req),
          }),
      ],
      ['GET', SIGN_OUT_PATH, (context) => ask(...askedOf(context))],
      ['POST', SIGN_OUT_PATH, (context) => signOut(...askedOf(context))],
    ],
    has: (origin) => byOrigin.has(origin),
  };
}
