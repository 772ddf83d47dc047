import { hash } from 'node:crypto';
import type { AuthRequest, Outcome } from '#shared/auth/scheme.ts';
import { authenticationParams } from '#shared/auth/schemes/parts/oauth.ts';
import { cookieName, setCookie } from '#shared/auth/schemes/session/cookie.ts';
import { shownSecret } from '#shared/auth/schemes/session/session.ts';
import type { Config } from '#shared/config/schema.ts';
import { callbackOf, signInClientId, type SignInSpace } from '#shared/config/sign-in-clients.ts';
import type { Answer } from '#shared/http/answer.ts';
import { cookiesNamed } from '#shared/http/cookies.ts';
import type { Pages } from './pages.ts';
import type { Visit, Visits } from './visits.ts';
import { firstMembers } from '#shared/http/fields.ts';
import { prefersHtml } from '#shared/pages/prefers-html.ts';

/** Seconds within which arrivals are counted. */
const ARRIVALS = 60;
/**
 * Successful sign-ins within that time after which a browser without a session gets a page instead of another redirect.
 */
const MOST_WITHOUT_SESSION = 2;
/** As MOST_WITHOUT_SESSION, for a browser that sends an ended session: a session may have been ended several times. */
const MOST_ENDED = 9;

/** The address at which a sign-in starts: that of the authorization server. */
export function startOf(
  issuer: string,
  space: SignInSpace,
  { state, nonce, verifier }: Visit,
  needed: Refused['needed'] = {},
): string {
  const query = new URLSearchParams({
    client_id: signInClientId(space),
    response_type: 'code',
    redirect_uri: callbackOf(space),
    scope: 'openid',
    resource: space.url,
    state,
    nonce,
    code_challenge: hash('sha256', verifier, 'base64url'),
    code_challenge_method: 'S256',
    ...authenticationParams(needed),
  });
  return `${issuer}/auth?${query.toString()}`;
}

/** Redirects there, with the cookie that this browser must keep until the callback. */
export const toStart = (location: string, lines: readonly string[]): Answer => ({
  status: 303,
  fields: { Location: location, 'Set-Cookie': lines, 'Cache-Control': 'no-store' },
});

type Refused = Extract<Outcome, { kind: 'answer' }>;

/** A refused request to a space with sign-in. */
export interface Met {
  readonly space: SignInSpace;
  readonly request: AuthRequest;
  /** The requested path and query. */
  readonly path: string;
  readonly outcome: Refused;
  /** The id of the request's log line, which the client may see. */
  readonly id: string | undefined;
}

interface SignInParts {
  readonly config: Pick<Config, 'issuer'>;
  readonly visits: Visits;
  readonly pages: Pages;
}

/**
 * Returns the answer that a browser gets in place of a refusal. Undefined for a program, which gets the refusal. A
 * reader that may be a program gets both: the challenges, and a page with a link to sign in.
 */
export function createSignIn({ config: { issuer }, visits, pages }: SignInParts) {
  function begin({ space, request, path, outcome }: Met) {
    const { visit, line } = visits.begin(space.url, path, request.cookies);
    return { location: startOf(issuer, space, visit, outcome.needed), lines: [line] };
  }

  function lead(met: Met): Answer {
    const { location, lines } = begin(met);
    return toStart(location, lines);
  }

  /** A submitted form is lost, so the page links to the start of the application. */
  function tell(met: Met): Answer {
    const { space, request, path, outcome } = met;
    const looks = request.method === 'GET' || request.method === 'HEAD';
    const wanted = looks ? path : new URL(space.url).pathname;
    const { location, lines } = begin({ ...met, path: wanted });
    const message = outcome.needed ? 'again' : 'needed';
    const page = pages.message(401, message, pageRequest(met), location);
    return { ...page, fields: { ...outcome.fields, ...page.fields, 'Set-Cookie': lines } };
  }

  /**
   * The page for a form that needs another sign-in. Its link starts the sign-in directly, since the application's first
   * page may need less.
   */
  function tellForm(met: Met): Answer {
    const { space, outcome } = met;
    const start = new URL(space.url).pathname;
    if (!outcome.needed) return pages.message(409, 'notTaken', pageRequest(met), start);
    const { location, lines } = begin({ ...met, path: start });
    const page = pages.message(409, 'notEnough', pageRequest(met), location);
    return { ...page, fields: { ...page.fields, 'Set-Cookie': lines } };
  }

  return (met: Met): Answer | undefined => {
    const { space, request, outcome, path } = met;
    const asker = askerOf(request);
    const to = pageRequest(met);
    if (asker === 'program') return undefined;
    if (outcome.status === 403 && outcome.about) {
      const page = pages.forbidden(to, outcome.about.name);
      return { ...page, fields: { ...outcome.fields, ...page.fields } };
    }
    if (outcome.status !== 401) return undefined;
    if (asker === 'reader') return tell(met);
    if (asker === 'form') return tellForm(met);
    const kept = shownSecret(space, request) !== undefined;
    if (arrivalsOf(space, request) < (kept ? MOST_ENDED : MOST_WITHOUT_SESSION)) return lead(met);
    const { fields, ...page } = pages.message(403, 'notKept', to, path);
    return { ...page, fields: { ...fields, 'Set-Cookie': [noArrivals(space)] } };
  };
}

const pageRequest = ({ request, id }: Met) => ({
  language: request.lines('accept-language')[0],
  id,
});

const arrivalCookie = ({ url }: SignInSpace) => cookieName(url, 'arrived');

/** The number of recent sign-ins here, according to the browser's cookie. */
function arrivalsOf(space: SignInSpace, request: Pick<AuthRequest, 'cookies'>): number {
  const [value = ''] = cookiesNamed(request.cookies, arrivalCookie(space));
  return /^\d$/.test(value) ? Number(value) : 0;
}

/** The Set-Cookie line that counts one more arrival. */
export function oneMoreArrival(space: SignInSpace, request: Pick<AuthRequest, 'cookies'>): string {
  const arrivals = Math.min(arrivalsOf(space, request) + 1, MOST_ENDED);
  return setCookie(space.url, arrivalCookie(space), String(arrivals), ARRIVALS);
}

export const noArrivals = (space: SignInSpace): string =>
  setCookie(space.url, arrivalCookie(space), '', 0);

/**
 * The kind of client that waits for an answer.
 * A browser navigates to a page (`navigation`) or submits a form (`form`). A `reader` accepts pages but may not be a
 * browser, such as lynx, w3m or a Java program with the default Accept. A `program` cannot use a page: a script, an
 * image, an API client, a browser's prefetch.
 */
export type Asker = 'navigation' | 'form' | 'reader' | 'program';

type Asked = Pick<AuthRequest, 'method' | 'lines' | 'handshake'>;

/** Browsers that support Fetch Metadata (sections 2.1 and 2.2) send these with every navigation of a whole tab. */
const OF_NAVIGATIONS: Readonly<Record<string, string>> = {
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
};

/** Browsers send no Fetch Metadata over plain HTTP or in older versions. Their User-Agent begins like this. */
const BROWSER = /^(?:Mozilla|Opera)\//;

/** Classifies the client of a request. Throws BadRequest if Accept is malformed. */
export function askerOf(request: Asked): Asker {
  const { method, lines, handshake } = request;
  const accept = firstMembers(lines('accept'));
  const said = Object.entries(OF_NAVIGATIONS).flatMap(([name, value]) =>
    lines(name).map((line) => line === value),
  );
  // Sec-Purpose marks a prefetch, which a person may never see.
  const unseen = handshake || lines('sec-purpose').length > 0 || said.includes(false);
  if (unseen || !prefersHtml(accept.join(', '))) return 'program';
  if (said.length === 0 && !BROWSER.test(lines('user-agent')[0] ?? '')) return 'reader';
  return method === 'GET' || method === 'HEAD' ? 'navigation' : 'form';
}
