import type { Clock } from '#shared/base/clock.ts';
import type { Log } from '#shared/base/log.ts';
import type { UpstreamConfig } from '#shared/config/upstream-schema.ts';
import { HttpError } from '#shared/http/answer.ts';
import { lines } from '#shared/http/fields.ts';
import { METHODS } from '#shared/http/methods.ts';
import { contentOf } from '#shared/server/content/content.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import { note, requestId } from '#shared/server/message/request-log.ts';
import { upgradeOf } from '#shared/server/tunnels/upgrade.ts';
import {
  type Drop,
  framingLines,
  framingOf,
  type Lines,
  takesTrailers,
} from '../forwarding/fields.ts';
import { Flow } from '../forwarding/flow.ts';
import { PassingAnswer } from '../forwarding/passing-answer.ts';
import { sendByNode } from '../forwarding/send-by-node.ts';
import { type AnswerHead, DECLINED, type Sink } from '../forwarding/sink.ts';
import type { Holder } from '../space/account.ts';
import { DestinationElsewhere } from './destination-lines.ts';
import { LEFT } from './places.ts';
import { sendByUndici } from './send-by-undici.ts';
import type { Upstream, Upstreams } from './upstreams.ts';
import type { WebSockets } from './websocket/web-sockets.ts';
import type { Who } from '#shared/auth/standing/standing.ts';

export interface Question {
  readonly request: AnyRequest;
  readonly path: string;
  /** The fields for one instance of the application, without framing fields. */
  readonly linesFor: (url: URL) => Lines;
  /** Fields that the application does not get, in header or trailers. */
  readonly removed: Drop;
  readonly sink: Sink;
  /** The holders of the exchange, by whom its connections are counted. */
  readonly holders: readonly Holder[];
  /** The person or client of a WebSocket handshake, which only a `PassingAnswer` can answer. */
  readonly who: Who | undefined;
  /** Called if the application answers a WebSocket handshake with an ordinary answer. */
  readonly watch: (() => void) | undefined;
}

/** How far an attempt got. */
interface Attempt {
  /** Whether octets may have been sent. */
  touched: boolean;
  /** Whether content was read, which cannot be read again. */
  consumed: boolean;
}

/**
 * Asks an instance of the application, and passes the answer to the client.
 * If a connection fails before an answer, it makes another attempt: with any method if nothing was sent, and otherwise
 * with an idempotent method (RFC 9110 section 9.2.2) whose content was not read. The same applies if an instance asks
 * for a pause while another works. Resolves when the answer has begun. Rejects with HttpError 502, 503 or 504.
 */
export function createUpstreamRequest(
  upstreams: Upstreams,
  webSockets: WebSockets | false,
  config: UpstreamConfig,
  clock: Clock,
  log: Log,
) {
  const patience = config.timeout * 1000;

  return async (question: Question): Promise<void> => {
    const { request, sink } = question;
    let tried: Upstream | undefined;
    let before: HttpError | undefined;
    for (;;) {
      if (!sink.wanted) throw LEFT;
      const upstream = upstreams.pick(tried);
      const attempt: Attempt = { touched: false, consumed: false };
      const first = tried === undefined;
      sink.declines = (head) => {
        const now = clock.now();
        const rest = restAsked(head, now);
        if (rest === 0) return false;
        upstream.leaveAlone(rest, now);
        const other = upstreams.pick(upstream);
        const works = other.rest(now) === 0 && !other.asksRest(now);
        return first && works && mayRepeat(request, attempt);
      };
      upstream.busy += 1;
      note(request, { host: upstream.url.host });
      sink.exchange.once('close', () => (upstream.busy -= 1));
      try {
        await send(question, upstream, attempt);
        upstream.worked();
        return;
      } catch (error) {
        if (!sink.wanted || sink.refused) throw error;
        // Without a connection for a second attempt, the outcome of the first is unknown.
        if (!isOfApplication(error)) throw before ?? error;
        if (error !== DECLINED) upstream.failed(clock.now());
        if (tried !== undefined || error.status !== 502 || !mayRepeat(request, attempt))
          throw error;
        log.warn('upstream.failed', {
          id: requestId(request),
          host: upstream.url.host,
          reason: whyOf(error),
        });
        tried = upstream;
        if (error !== DECLINED) before = error;
      }
    }
  };

  async function send(
    { request, path, linesFor, removed, sink, holders, who, watch }: Question,
    upstream: Upstream,
    attempt: Attempt,
  ): Promise<void> {
    const { agent, once, places, url, connect } = upstream;
    const { timeout: idle } = config;
    const upgrade = upgradeOf(request);
    if (upgrade && webSockets && sink instanceof PassingAnswer) {
      attempt.touched = true;
      const way = { createConnection: connect };
      const sent = { request, way, path, lines: linesFor(url), idle };
      return webSockets.open({ upgrade, sent, passing: sink, holders, who, watch });
    }
    const { method = '' } = request;
    const framing = framingOf(request);
    const empty = framing === undefined || framing === '0';
    // Content is read only once a connection can carry it.
    const touched = () => {
      attempt.touched = true;
      attempt.consumed = !empty;
    };
    const head = [...linesFor(url), ...framingLines(framing, method)];
    const flow = new Flow(request, !empty);
    const over = await places.take({ holders, exchange: sink.exchange, flow });
    if (needsNode(request, framing)) {
      const { hostname, port, protocol } = url;
      const host = hostname.replaceAll(/[[\]]/g, '');
      const way = { agent: empty || WITH_CONTENT.has(method) ? agent : once, host, port, protocol };
      head.push(...nodeLines(request, framing));
      const sent = { request, way, path, lines: head, removed, idle, touched, over, flow };
      return sendByNode(sent, sink);
    }
    const pool = upstream.pool ?? (await upstream.open());
    const body = empty ? undefined : contentOf(request);
    const asked = { pool, method, path, lines: head, body, patience, touched, flow, over };
    return sendByUndici(asked, sink);
  }
}

/** Whether an error is a failure of the application, not of the gateway. */
export const isOfApplication = (error: unknown): error is HttpError =>
  error instanceof HttpError &&
  !(error instanceof DestinationElsewhere) &&
  (error.status === 502 || error.status === 504);

/** The message for the log, with the cause that the connection reports. */
export function whyOf({ message, cause }: HttpError): string {
  // If several addresses failed, the error has a code and no message.
  const { message: words, code } = (cause ?? {}) as NodeJS.ErrnoException;
  return [message, words || code].filter(Boolean).join(' ');
}

function mayRepeat({ method = '' }: AnyRequest, { touched, consumed }: Attempt): boolean {
  return !touched || (!consumed && METHODS.get(method)?.idempotent === true);
}

/**
 * The methods with which every application expects content. Other methods get a separate connection: an application
 * that does not read the content would treat it as the next request (RFC 9112 section 9.3).
 */
const WITH_CONTENT = new Set(['POST', 'PUT', 'PATCH']);

/** Whether a request needs node:http: for trailers, `Expect`, or content with a method that has none. */
function needsNode({ method = '', headers }: AnyRequest, framing: string | undefined): boolean {
  if (framing === 'chunked' || headers.expect !== undefined) return true;
  if (headers['te'] !== undefined) return true;
  return framing !== undefined && framing !== '0' && !WITH_CONTENT.has(method);
}

/** The lines of a request that node:http can send, but undici cannot. */
function nodeLines(request: AnyRequest, framing: string | undefined): Lines {
  const more: Lines = [];
  const [trailer] = lines(request.rawHeaders, 'trailer');
  if (framing === 'chunked' && trailer !== undefined) more.push(['Trailer', trailer]);
  if (takesTrailers(request)) more.push(['TE', 'trailers'], ['Connection', 'TE']);
  if (request.headers.expect !== undefined) more.push(['Expect', '100-continue']);
  return more;
}

/** Milliseconds of the pause that an answer asks for (RFC 9110 sections 10.2.3 and 15.6.4). */
function restAsked({ status, rawHeaders }: AnswerHead, now: number): number {
  if (status !== 503) return 0;
  const [value = ''] = lines(rawHeaders, 'retry-after');
  const wait = /^[0-9]+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return wait > 0 ? wait : 0; // NaN without a date
}
