import { type Answer, type Fields, notFound, problemAnswer } from '#shared/http/answer.ts';
import type { Outcome } from '../scheme.ts';

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

/**
 * Returns the answer to a client that was not admitted; a hidden resource looks like a missing one. In development
 * the answer shows its reason, unless the outcome is `untold`.
 */
export function refusal(
  { status, fields, detail, reason, untold }: Extract<Outcome, { kind: 'answer' }>,
  more: Fields = {},
): Answer {
  const usual = DETAILS[status];
  const answer =
    usual === undefined
      ? problemAnswer(404, notFound().message)
      : problemAnswer(status, detail ?? usual);
  return {
    ...answer,
    fields: { ...answer.fields, ...fields, ...more },
    ...(usual !== undefined && !untold && { reason }),
  };
}
