import {
  type Answer,
  errorAnswer,
  type Fields,
  notFound,
  problemAnswer,
} from '#shared/server/answer.ts';
import type { AnyRequest } from '#shared/server/message.ts';
import { note } from '#shared/server/request-log.ts';
import { authorize } from './authorize.ts';
import { judge } from './judge.ts';
import { subjectOf } from './person.ts';
import type { AuthRequest, Outcome, Principal, ProtectionSpace } from './scheme.ts';

const VERDICTS = { pass: 'granted', answer: 'refused', absent: 'absent' } as const;

/** Authenticates, then authorizes, and notes the outcome for the log. */
export async function admit(
  request: AnyRequest,
  space: ProtectionSpace,
  asked: AuthRequest,
): Promise<Outcome> {
  const judged = await judge(space, asked);
  if (judged.kind === 'pass') {
    const { principal, application } = judged;
    note(request, { subject: subjectOf(principal), client: principal.claims?.['client_id'] });
    note(request, { application: idOf(application) });
  }
  const outcome = judged.kind === 'pass' ? authorize(space, judged, asked) : judged;
  note(request, { space: space.realm, verdict: VERDICTS[outcome.kind] });
  if (outcome.kind !== 'absent') note(request, { scheme: outcome.scheme });
  if (outcome.kind !== 'pass') note(request, { reason: outcome.reason });
  return outcome;
}

function idOf(application: Principal | undefined): string | undefined {
  return application?.kind === 'application' ? application.id : undefined;
}

const DETAILS: Readonly<Record<number, string>> = {
  400: 'The credentials are malformed, or there is more than one set of them.',
  401: 'Credentials are missing or not valid. WWW-Authenticate says which are accepted.',
  403: 'The credentials are missing, not valid or not enough for this.',
  407: 'Credentials for this proxy are missing or not valid. Proxy-Authenticate says which are accepted.',
  413: 'The content is too long for credentials that cover it.',
  421: 'These credentials need an HTTP/1.1 connection of their own.',
  429: 'Too many attempts. Try again after the seconds that Retry-After gives.',
  503: 'Credentials cannot be checked now. Try again after the seconds that Retry-After gives.',
};

/** What a client that was not admitted is told; hidden is as missing. */
export function refusal(
  { status, fields, detail }: Extract<Outcome, { kind: 'answer' }>,
  more: Fields,
): Answer {
  const usual = DETAILS[status];
  const answer =
    usual === undefined ? errorAnswer(notFound()) : problemAnswer(status, detail ?? usual);
  return { ...answer, fields: { ...answer.fields, ...fields, ...more } };
}
