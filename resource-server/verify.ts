import { andThen, type Awaitable } from '#shared/base/awaitable.ts';
import { refusal } from '#shared/auth/refusal.ts';
import { admitted } from '#shared/server/admitted.ts';
import { type Recipient, toldRequest } from '#shared/server/auth-request.ts';
import type { Outcome } from '#shared/auth/scheme.ts';
import { BadRequest, single } from '#shared/http/fields.ts';
import { parseTarget } from '#shared/http/target.ts';
import { type Answer, type Fields, problemAnswer } from '#shared/http/answer.ts';
import type { AnyRequest } from '#shared/server/message.ts';
import { note, pathOf } from '#shared/server/request-log.ts';
import { forwardedOrigin } from './forwarded-origin.ts';
import type { createHiding } from './hiding.ts';
import { identityFields } from './identity-fields.ts';
import type { Spaces } from './spaces.ts';

interface VerifyParts {
  readonly spaces: Spaces;
  readonly shownTo: ReturnType<typeof createHiding>;
  readonly recipient: Recipient;
}

/**
 * nginx knows 401 and 403 as refusals and makes 500 of anything else, so what it cannot say is told in
 * those words: malformed credentials (400), a scheme that needs a connection (421), a space that hides (404).
 */
const TOLD: Readonly<Record<number, number>> = { 400: 401, 404: 403, 421: 401 };

/**
 * Forward authentication: may the request that a proxy holds enter? The proxy is a trusted peer, hands
 * on Authorization and DPoP, and describes the request by X-Forwarded-Method, X-Forwarded-Proto,
 * X-Forwarded-Host and X-Forwarded-Uri, all of which it has to write itself. The answer is 204 with
 * identity fields, or 401 or 403 with the challenges; 400 when the proxy's description is incomplete.
 * A person is the same subject by whatever scheme; the name is there if the scheme tells it.
 * All identity fields are in every 204, empty where nothing is known: a proxy that copies them over
 * those of the client leaves nothing that the client wrote.
 */
export function verify(
  request: AnyRequest,
  { spaces, shownTo, recipient }: VerifyParts,
): Awaitable<Answer> {
  const { rawHeaders } = request;
  const peer = request.socket.remoteAddress ?? '';
  if (!recipient.proxies.has(peer)) return refused(request, `${peer} is not in trustedProxies`);
  const origin = forwardedOrigin(rawHeaders);
  const method = single(rawHeaders, 'x-forwarded-method');
  const uri = single(rawHeaders, 'x-forwarded-uri');
  if (origin === undefined || method === undefined || uri === undefined) {
    throw new BadRequest('X-Forwarded-Method, -Proto, -Host and -Uri must describe the request.');
  }

  note(request, { askedMethod: method, askedHost: origin, askedPath: pathOf(uri) });
  const target = parseTarget(uri);
  if (target?.form !== 'origin') return refused(request, 'the forwarded URI is ambiguous');
  const { authorization } = request.headers;
  const asked = () => toldRequest(request, { method, target: uri, origin }, recipient);
  return andThen(shownTo({ origin, target, authorization, asked }), (hidden) => {
    if (hidden) {
      note(request, hidden.noted);
      return told(request, hidden.outcome);
    }
    const space = spaces.find(origin, target.segments);
    if (space === undefined) return refused(request, `no space has the forwarded URL at ${origin}`);
    return andThen(admitted(request, space, asked()), (outcome) => told(request, outcome));
  });
}

function told(request: AnyRequest, outcome: Outcome): Answer {
  if (outcome.kind === 'absent') return refused(request, outcome.reason);
  if (outcome.kind === 'pass') {
    const fields = { ...outcome.fields, ...identityFields(outcome), 'Cache-Control': 'no-store' };
    return { status: 204, fields };
  }
  const status = TOLD[outcome.status] ?? outcome.status;
  const answer = refusal({ ...outcome, status });
  return { ...answer, fields: inOneLine(answer.fields) };
}

/** nginx hands on one line of a field only; challenges may share it (RFC 9110 section 11.6.1). */
function inOneLine(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, [value].flat().join(', ')]),
  );
}

/** The operator finds the reason in the log; the client only learns that it may not. */
function refused(request: AnyRequest, reason: string): Answer {
  note(request, { verdict: 'refused', reason });
  return problemAnswer(403, 'This request cannot be let through.');
}
