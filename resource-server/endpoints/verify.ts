import { andThen, type Awaitable } from '#shared/base/awaitable.ts';
import { refusal } from '#shared/auth/judge/refusal.ts';
import { admitAndNote } from '#shared/server/endpoints/admit-and-note.ts';
import { type Recipient, describedRequest } from '#shared/server/endpoints/auth-request.ts';
import type { AuthRequest, Outcome } from '#shared/auth/scheme.ts';
import { SIGN_IN_PREFIX } from '#shared/config/sign-in-clients.ts';
import { isSignInCookie } from '#shared/auth/schemes/session/cookie.ts';
import { withoutCookies } from '#shared/http/cookies.ts';
import { BadRequest, single } from '#shared/http/fields.ts';
import { parseAskedTarget } from '#shared/http/target.ts';
import { type Answer, type Fields, problemAnswer } from '#shared/http/answer.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import { note, pathOf, shownId } from '#shared/server/message/request-log.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/spaces.ts';
import { forwardedOrigin } from '../forwarding/forwarded-origin.ts';
import type { createHiding } from '../space/hiding.ts';
import { identityFields } from '../space/identity-fields.ts';
import type { SignIn } from '../sign-in/open-sign-in.ts';
import type { Space, Spaces } from '../space/spaces.ts';
import { isWithin } from '../space/within.ts';
import { verdictStatus } from './verdict-status.ts';

interface VerifyParts {
  readonly spaces: Spaces;
  readonly signIn: SignIn;
  readonly shownTo: ReturnType<typeof createHiding>;
  readonly recipient: Recipient;
}

/**
 * Statuses for malformed credentials, and for a scheme that needs another connection. Both get challenges, which say
 * what to send.
 */
const ASKS_AGAIN: ReadonlySet<number> = new Set([400, 421]);

/**
 * Forward authentication: decides whether a request that a proxy holds is admitted.
 * The proxy is a trusted peer and passes on Authorization, DPoP and Cookie. It describes the request by
 * X-Forwarded-Method, X-Forwarded-Proto, X-Forwarded-Host and X-Forwarded-Uri, all of which it must write itself. The
 * answer is 204 with identity fields, or 401 or 403 with the challenges, for any error (verdict-status.ts). A person is
 * the same subject with every scheme. The name is present if the scheme or the directory gives it. Every 204 has all
 * identity fields, ours and those of the space, and unknown ones are empty. A proxy that copies them over those of the
 * client leaves nothing that the client wrote.
 */
export function verify(request: AnyRequest, parts: VerifyParts): Awaitable<Answer> {
  return judged(request, parts, ({ outcome }) => {
    const status = ASKS_AGAIN.has(outcome.status) ? 401 : verdictStatus(outcome.status);
    return refusal({ ...outcome, status });
  });
}

/**
 * Forward authentication for a proxy that passes any answer on to the client. A browser gets a page or redirect to sign
 * in, if the space offers that.
 */
export function verifyBrowser(request: AnyRequest, parts: VerifyParts): Awaitable<Answer> {
  return judged(
    request,
    parts,
    ({ space, asked, outcome }) =>
      parts.signIn.instead({
        url: space.url,
        request: asked,
        path: asked.target,
        outcome,
        id: shownId(request),
      }) ?? refusal(outcome),
  );
}

interface Judged {
  readonly space: Pick<Space, 'url'>;
  readonly asked: AuthRequest;
  readonly outcome: Extract<Outcome, { kind: 'answer' }>;
}

/** `tell`: makes the answer to a client that was not admitted. */
function judged(
  request: AnyRequest,
  { spaces, signIn, shownTo, recipient }: VerifyParts,
  tell: (judged: Judged) => Answer,
): Awaitable<Answer> {
  const { rawHeaders } = request;
  const peer = request.socket.remoteAddress ?? '';
  if (!recipient.proxies.has(peer)) {
    return refusedUnlooked(request, refuse('verify-peer', { peer }));
  }
  const origin = forwardedOrigin(rawHeaders);
  const method = single(rawHeaders, 'x-forwarded-method');
  const uri = single(rawHeaders, 'x-forwarded-uri');
  if (origin === undefined || method === undefined || uri === undefined) {
    throw new BadRequest('X-Forwarded-Method, -Proto, -Host and -Uri must describe the request.');
  }

  note(request, { askedMethod: method, askedHost: origin, askedPath: pathOf(uri) });
  const target = parseAskedTarget(uri);
  if (target?.form !== 'origin') {
    return refusedUnlooked(request, refuse('verify-ambiguous'));
  }
  if (target.segments[0] === SIGN_IN_PREFIX && signIn.has(origin)) {
    return refusedUnlooked(request, refuse('verify-sign-in'));
  }
  const { authorization } = request.headers;
  const asked = () => describedRequest(request, { method, target: uri, origin }, recipient);
  return andThen(shownTo({ request, origin, target, authorization, asked }), (hidden) => {
    const space = hidden?.space ?? spaces.find(origin, target.segments);
    if (space === undefined) return refused(request, refuse('verify-no-space', { origin }));
    if (!isWithin(space, uri, target)) {
      return refused(request, refuse('verify-two-readings'));
    }
    if (hidden) note(request, hidden.noted);
    const told = asked();
    return andThen<Outcome, Answer>(
      hidden?.outcome ?? admitAndNote(request, space, told),
      (outcome) => {
        if (outcome.kind === 'absent')
          return refused(request, { refusal: outcome.refusal, reason: outcome.reason });
        if (outcome.kind === 'pass') return passed(outcome, space, told);
        const answer = tell({ space, asked: told, outcome });
        return { ...answer, fields: inOneLine(answer.fields) };
      },
    );
  });
}

/** In a space with sign-in, `Cookie` is what remains of the client's cookies for the application. */
function passed(
  outcome: Extract<Outcome, { kind: 'pass' }>,
  { signIn, identity }: Pick<Space, 'signIn' | 'identity'>,
  request: AuthRequest,
): Answer {
  const cookie = () => withoutCookies(request.lines('cookie').join('; '), isSignInCookie);
  return {
    status: 204,
    fields: {
      ...outcome.fields,
      ...identityFields(outcome),
      ...(identity && identityFields(outcome, identity)),
      ...(signIn && { Cookie: cookie() }),
      'Cache-Control': 'no-store',
    },
  };
}

/**
 * Joins the lines of a field, since nginx passes on only one line. Challenges may share a line (RFC 9110 section
 * 11.6.1), but cookies may not.
 */
function inOneLine(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      name === 'Set-Cookie' ? value : [value].flat().join(', '),
    ]),
  );
}

/** Refuses before any space was looked up, so that the reason reveals nothing about spaces. */
function refusedUnlooked(request: AnyRequest, why: Refusal): Answer {
  return { ...refused(request, why), reason: why.reason };
}

/**
 * The operator finds the reason in the log. The client only learns that it is refused, even in development. A hidden
 * space is answered like a missing one.
 */
function refused(request: AnyRequest, why: Refusal): Answer {
  note(request, { verdict: 'refused', ...why });
  return problemAnswer(403, 'This request cannot be let through.');
}
