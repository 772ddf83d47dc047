import type { Awaitable } from '#shared/base/awaitable.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { TrustedProxies } from '#shared/http/forwarded.ts';
import type { Log } from '#shared/base/log.ts';
import type { LogFields } from '#shared/base/log-fields.ts';
import { RecentMap, remembering } from '#shared/base/recent-map.ts';
import { type Random, randomId } from '#shared/base/random.ts';
import { type AnyRequest, type AnyResponse, holdFields } from './message.ts';
import { readTraceContext, type TraceContext } from './trace-context.ts';

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** The member for a request's log fields so far. A map of requests would cost ten times as much. */
const NOTED = Symbol('noted');

/** The member for the kind of a routine request. */
const ROUTINE = Symbol('routine');

/** The member for the trace of the request, which a trusted proxy sends. */
const TRACE = Symbol('trace');

type Logged = AnyRequest & {
  [NOTED]?: LogFields;
  [ROUTINE]?: string;
  [TRACE]?: TraceContext | undefined;
};

/** Adds fields to the log line of this request. */
export function note(request: Logged, fields: LogFields): void {
  const noted = request[NOTED];
  if (noted !== undefined) Object.assign(noted, fields);
}

/** Returns the log fields of the request so far; undefined if no line is written for it. */
export const notedOf = (request: Logged): LogFields | undefined => request[NOTED];

/**
 * Makes one line a minute represent all successful requests of this kind, since the client sends them all the time.
 */
export function noteRoutine(request: Logged, kind: string): void {
  request[ROUTINE] = kind;
}

/** Returns the id of the request's log line; empty if no line is written. */
export function requestId(request: Logged): string {
  return request[NOTED]?.id ?? '';
}

/** Returns the trace that is passed on to an application; undefined if the request has no trusted trace. */
export const traceOf = (request: Logged): TraceContext | undefined => request[TRACE];

/** Returns the id that the client may see, in X-Request-Id and on a page; undefined if it may see none. */
export function shownId(request: Logged): string | undefined {
  return isNameless(request) ? undefined : request[NOTED]?.id;
}

/**
 * Returns the path without the query and, for an absolute-form target, without the userinfo, which may have a
 * password.
 */
export const pathOf = remembering(
  (url) => {
    const path = url.replace(/^[a-z]+:\/\/[^/?#]*/i, '');
    return path.slice(0, path.search(/[?#]|$/));
  },
  { capacity: 1000, longest: 512 },
);

/**
 * True if the client is anonymous by PrivateToken. Such a client gets nothing that marks its answer (RFC 9576 section
 * 6.1).
 */
export const isNameless = ({ headers }: AnyRequest) =>
  /^privatetoken(?: |$)/i.test(headers.authorization ?? '');
/** Matches health checks, which probes send every few seconds. */
const HEALTH = /^\/health\/(?:live|ready)$/;
/** Milliseconds for which one line represents all successful routine requests of a kind. */
const QUIET = 60_000;
/** Most kinds of routine requests that are counted. */
const KINDS = 1000;

export interface LoggedParts {
  readonly log: Log;
  readonly clock: Clock;
  readonly random: Random;
  readonly trusted: TrustedProxies;
  /** Paths whose remaining segments are secret, so that the log has only these beginnings. */
  readonly secret?: readonly string[];
}

/**
 * Writes one log line when a request is over: id, method, path, status, milliseconds, and the fields of `note`. The
 * id is the X-Request-Id of a trusted proxy if that is plain, otherwise random. `cut`: the connection ended before
 * the answer. Answers have the id, too, so that a client can name the line. `trace` comes from a trusted proxy, too
 * (W3C Trace Context). Successful health checks get one line a minute, with their number (`checks`) since the last
 * such line; so do all other kinds of routine requests.
 */
export function logged<Request extends AnyRequest, Response extends AnyResponse>(
  handler: (request: Request, response: Response) => Awaitable<void>,
  { log, clock, random, trusted, secret = [] }: LoggedParts,
): (request: Request, response: Response) => Awaitable<void> {
  const routines = new RecentMap<{ checks: number; since: number }>(KINDS);
  const written = secretPaths(secret);
  return (request, response) => {
    const start = clock.now();
    const { 'x-request-id': given, traceparent } = request.headers;
    const believed =
      (given ?? traceparent) !== undefined && trusted.has(request.socket.remoteAddress ?? '');
    const plain = believed && typeof given === 'string' && REQUEST_ID.test(given);
    const nameless = isNameless(request);
    // A trace would make requests linkable that must not be linked (RFC 9576 section 3.3).
    const trace = believed && !nameless ? readTraceContext(request.headers) : undefined;
    const noted = { id: plain ? given : randomId(random), ...(trace && { trace: trace.traceId }) };
    (request as Logged)[NOTED] = noted;
    if (trace) (request as Logged)[TRACE] = trace;
    if (!nameless) {
      holdFields(response, { 'X-Request-Id': noted.id });
    }
    response.on('close', () => {
      const now = clock.now();
      const path = written(pathOf(request.url ?? ''));
      const kind = HEALTH.test(path) ? 'health' : (request as Logged)[ROUTINE];
      const well = kind !== undefined && response.statusCode < 300 && response.writableFinished;
      const routine = well ? routines.get(kind) : undefined;
      // `Math.abs`: if the clock was set back, the next line does not wait until the clock has caught up.
      if (routine && Math.abs(now - routine.since) < QUIET) {
        routine.checks += 1;
        return;
      }
      note(request, {
        method: request.method,
        path,
        status: response.statusCode,
        milliseconds: now - start,
        cut: response.writableFinished ? undefined : true,
        checks: well ? (routine?.checks ?? 0) + 1 : undefined,
      });
      log.info('request', noted);
      if (well) routines.set(kind, { checks: 0, since: now });
    });
    return handler(request, response);
  };
}

/** Most decodings of a path: a proxy and a server may both decode it. */
const DECODINGS = 3;

/** Decodes ASCII in a path. Octets beyond ASCII stay, since no secret path begins with them. */
const decoded = (path: string): string =>
  path.replace(/%([0-7][0-9a-f])/gi, (_, octet: string) =>
    String.fromCharCode(Number.parseInt(octet, 16)),
  );

/** Returns a path as the most lenient reader would read it. */
function laxly(path: string): string {
  let text = path;
  for (let time = 0; time < DECODINGS; time += 1) text = decoded(text);
  const plain = text
    .toLowerCase()
    .replaceAll('\\', '/')
    .replace(/;[^/]*/g, '')
    .replace(/\/{2,}/g, '/');
  return URL.parse(plain, 'http://a')?.pathname ?? plain;
}

/**
 * Returns a function for the part of a path that the log may have. Below `beginnings` that is the beginning alone,
 * since the remaining path is a secret. The spelling does not matter: a client that misspells the beginning still
 * sends the secret.
 */
export function secretPaths(beginnings: readonly string[]): (path: string) => string {
  if (beginnings.length === 0) return (path) => path;
  const written = (path: string) => {
    const lax = laxly(path);
    return beginnings.find((beginning) => lax.startsWith(beginning.toLowerCase())) ?? path;
  };
  return remembering(written, { capacity: 1000, longest: 512 });
}
