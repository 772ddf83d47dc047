import { type AuthRequest, ORIGIN } from '#shared/auth/scheme.ts';
import { lines } from '#shared/http/fields.ts';
import type { NodeRequest } from './frameworks.ts';

/** A request as a framework hands it over. */
export interface Seen {
  /** The same object for as long as the request is handled, whatever stands before whom. */
  readonly request: object;
  readonly method: string;
  /** Path and query as the client sent them, whatever it was routed to since. */
  readonly target: string;
  /** Every line of a field, in order. */
  lines(name: string): readonly string[];
}

/** `raw`: the request of node:http where a framework has one of its own around it. */
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

/** `Headers` joins the lines of a field with a comma: of two Authorization lines it makes malformed credentials. */
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

/** None of the schemes here looks at the connection, or at cookies. */
const PEER: AuthRequest['peer'] = { address: '', connection: {}, http2: false, trusted: false };

/** At the origin that clients know, whatever the framework takes for it. */
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

/** The question of a browser that comes before a script's request, and never has credentials (Fetch, CORS protocol). */
export const isPreflight = ({ method, lines: of }: Seen): boolean =>
  method === 'OPTIONS' && of('origin').length > 0 && of('access-control-request-method').length > 0;
