import type { Answer } from '#shared/http/answer.ts';

/**
 * The endpoints whose errors have the format of OAuth: RFC 6749 section 5.2, RFC 7662 section 2.3, RFC 7009 section
 * 2.2.1, RFC 9126 section 2.3, RFC 8628 section 3.2.
 */
const OF_OAUTH: ReadonlySet<string> = new Set([
  '/token',
  '/token/introspection',
  '/token/revocation',
  '/request',
  '/device/auth',
]);

/** The engine's names, by status, for errors that stop a request before the engine gets it. */
const ERRORS: Readonly<Record<number, string>> = {
  429: 'temporarily_unavailable',
  500: 'server_error',
  503: 'temporarily_unavailable',
};

/**
 * Returns the answer to an error in the format of OAuth, if the endpoint has this format and OAuth has a name for the
 * error.
 */
export function inOAuth(path: string, answer: Answer): Answer {
  const { status, fields, detail } = answer;
  const error = OF_OAUTH.has(path) ? ERRORS[status] : undefined;
  if (error === undefined) return answer;
  return {
    status,
    fields: { ...fields, 'Content-Type': 'application/json; charset=utf-8' },
    body: JSON.stringify({ error, error_description: detail }),
  };
}
