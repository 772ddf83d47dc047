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

/** The member that says of what kind a routine request is. */
const ROUTINE = Symbol('routine');

/** The member for the trace that the request is part of, as a trusted proxy says. */
const TRACE = Symbol('trace');

type Logged = AnyRequest & {
  [NOTED]?: LogFields;
  [ROUTINE]?: string;
  [TRACE]?: TraceContext | undefined;
};

/** Adds to the line of this request. */
export function note(request: Logged, fields: LogFields): void {
  const noted = request[NOTED];
  if (noted !== undefined) Object.assign(noted, fields);
}

/** The fields of its line so far. Undefined: no line is written of it. */
export const notedOf = (request: Logged): LogFields | undefined => request[NOTED];

/** Makes one line a minute stand for all requests of this kind that go well, since the client sends them all the time. */
export function noteRoutine(request: Logged, kind: string): void {
  request[ROUTINE] = kind;
}

/** The id of its line; empty where no line is written of it. */
export function requestId(request: Logged): string {
  return request[NOTED]?.id ?? '';
}

/** The trace that goes on with it to an application; undefined: none that is believed. */
export const traceOf = (request: Logged): TraceContext | undefined => request[TRACE];

/** The id that its client may see, in X-Request-Id and on a page; undefined: none. */
export function shownId(request: Logged): string | undefined {
  return isNameless(request) ? undefined : request[NOTED]?.id;
}

/** Without the query and, of an absolute-form target, without what may hold a password. */
export const pathOf = remembering(
  (url) => {
    const path = url.replace(/^[a-z]+:\/\/[^/?#]*/i, '');
    return path.slice(0, path.search(/[?#]|$/));
  },
  { capacity: 1000, longest: 512 },
);

/** True if the client comes without a name. It must get nothing that marks its answer (RFC 9576 section 6.1). */
export const isNameless = ({ headers }: AnyRequest) =>
  /^privatetoken(?: |$)/i.test(headers.authorization ?? '');
/** Asked every few seconds, of every server, by whatever runs it. */
const HEALTH = /^\/health\/(?:live|ready)$/;
/** Milliseconds for which one line stands for all routine requests of a kind that went well. */
const QUIET = 60_000;
/** Kinds of routine requests whose numbers are kept. */
const KINDS = 1000;

export interface LoggedParts {
  readonly log: Log;
  readonly clock: Clock;
  readonly random: Random;
  readonly trusted: TrustedProxies;
  /** Paths below which nothing is written, since the rest is a secret. */
  readonly secret?: readonly string[];
}

/**
 * Writes one line a request once it is over: id, method, path, status, milliseconds, and what
 * `note` added. The id is that of X-Request-Id when a trusted proxy sent a plain one, else random.
 * `cut`: the connection ended before the answer did. Answers carry the id too, so that anybody who got one
 * can name the line. `trace` is that of a trusted proxy, too (W3C Trace Context). Of checks of health that went well there is one line a minute, with their number
 * (`checks`) since the last; the same for each other kind of routine request.
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
    // A trace would link a request that must not be linked (RFC 9576 section 3.3).
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
      // `Math.abs`: if the clock was set back, nobody waits until it has caught up.
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

/** Decodings after which a path is taken as it is: a proxy and a server may both decode. */
const DECODINGS = 3;

/** Decodes what can be decoded. Octets beyond ASCII stay, since no beginning of a secret path has them. */
const decoded = (path: string): string =>
  path.replace(/%([0-7][0-9a-f])/gi, (_, octet: string) =>
    String.fromCharCode(Number.parseInt(octet, 16)),
  );

/** Returns a path as the laxest reader would take it. */
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
 * Returns what the log may have of a path: the beginning alone of one below `beginnings`, since the rest is a secret there.
 * However it is spelled: a client that misspells a secret still sends it.
 */
export function secretPaths(beginnings: readonly string[]): (path: string) => string {
  if (beginnings.length === 0) return (path) => path;
  const written = (path: string) => {
    const lax = laxly(path);
    return beginnings.find((beginning) => lax.startsWith(beginning.toLowerCase())) ?? path;
  };
  return remembering(written, { capacity: 1000, longest: 512 });
}
