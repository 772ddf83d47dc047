import type { Reply } from '#shared/client/send.ts';
import { parseChallenges } from '#shared/http/auth/challenge.ts';
import { Failure } from '../arguments/command.ts';
import { parseSafeUrl } from '../oauth/http.ts';

/** The access that a resource asks for, and the server that grants it (RFC 9635 section 9.1). */
export interface Offer {
  readonly endpoint: string;
  readonly access: string;
}

/** Reads the GNAP challenge in an answer. Throws `Failure` if there is none that can be trusted. */
export function offerOf({ status, fields }: Reply, url: string): Offer {
  const challenges = parseChallenges(fields['www-authenticate'] ?? '') ?? [];
  const { params } = challenges.find(({ scheme }) => scheme.toLowerCase() === 'gnap') ?? {};
  if (status !== 401 || params === undefined) {
    throw new Failure(`${url} answers ${status} without a challenge of GNAP`);
  }
  const { as_uri: endpoint = '', access = '', referrer = '' } = params;
  if (parseSafeUrl(endpoint) === undefined || access === '') {
    throw new Failure(`${url} does not say where there is access to it`);
  }
  // Otherwise a malicious resource could have the person allow access to another resource.
  const named = parseSafeUrl(referrer);
  const asked = new URL(url);
  if (named?.origin !== asked.origin || !asked.pathname.startsWith(named.pathname)) {
    throw new Failure(`${url} answers with the challenge of another resource`);
  }
  return { endpoint, access };
}
