import { type AuthRequest, ORIGIN } from '#shared/auth/scheme.ts';
import { lines } from '#shared/http/fields.ts';
import type { NodeRequest } from './frameworks.ts';

/** A request as a framework passes it to the guard. */
export interface Seen {
  /** The same object while the request is handled, in every guard. */
  readonly request: object;
  readonly method: string;
  /** Path and query as the client sent them, before any routing. */
  readonly target: string;
  /** Every line of a field, in order. */
  lines(name: string): readonly string[];
}

/** `raw`: the request of node:http, if the framework wraps it in one of its own. */
export function seenByNode(
  { method = 'GET', url = '/', originalUrl, rawHeaders }: NodeRequest,
  raw: object,
): Seen {
  return {
    request: raw,
    method,
    target: originalUrl ?? url,
    lines: (name) => lines(rawHeaders, name),
  };
}

/** `Headers` joins the lines of a field with a comma, so two Authorization lines become malformed credentials. */
export function seenByFetch(request: Request): Seen {
  const { method, url, headers } = request;
  const { pathname, search } = new URL(url);
  return {
    request,
    method,
    target: pathname + search,
    lines(name) {
      const value = headers.get(name);
      return value === null ? [] : [value];
    },
  };
}

/** A placeholder: no scheme of the guard reads the connection or cookies. */
const PEER: AuthRequest['peer'] = { address: '', connection: {}, http2: false, trusted: false };

/** Uses the origin that clients know, not the framework's. */
export function authRequest(seen: Seen, origin: string): AuthRequest {
  return {
    at: ORIGIN,
    method: seen.method,
    target: seen.target,
    origin,
    field: (name) => seen.lines(name)[0],
    lines: (name) => seen.lines(name),
    cookies: [],
    peer: PEER,
    confidential: true,
  };
}

/**
 * True for a CORS preflight, which a browser sends before a script's request, always without credentials (Fetch, CORS
 * protocol).
 */
export const isPreflight = ({ method, lines: of }: Seen): boolean =>
  method === 'OPTIONS' && of('origin').length > 0 && of('access-control-request-method').length > 0;
