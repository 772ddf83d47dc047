import type { KeyObject } from 'node:crypto';
import type { Clock } from '#shared/base/clock.ts';
import type { LogFields } from '#shared/base/log-fields.ts';
import type { Random } from '#shared/base/random.ts';
import { HttpError, notFound } from '#shared/http/answer.ts';
import { AT_ONCE } from './at-once.ts';
import type { Person } from './browser.ts';
import type { Charge } from './charge.ts';
import type { ClientKeys, Exchange, Issue } from './exchange.ts';
import type { Choice } from './form.ts';
import {
  type Connection,
  dividedAtTunnel,
  notAnswered,
  type Party,
  type PlannedRequest,
  readAnswer,
  type Sender,
  writeRequest,
} from './http1-message.ts';
import { writeRequestList } from './http2-message.ts';
import type { Loopback, Way } from './listener.ts';
import type { Remark } from '../pages/views/remark.ts';
import { spacePath } from './spaces.ts';
import { TOKEN_ISSUER } from './token-issuer.ts';

/** A request and its answer, as sent and received by the client's socket. */
export interface Leg {
  readonly title: string;
  /** The party that got the request. Undefined: the resource server. */
  readonly to: Party | undefined;
  /** Whether the server promised the request itself (RFC 9113 section 8.4). */
  readonly promised?: true;
  /** The sender. Undefined: the client. */
  readonly from?: Sender | undefined;
  readonly sent: Buffer;
  readonly received: Buffer;
  /** The log line of the request at the server. Undefined: another process has it. */
  readonly noted: LogFields | undefined;
  /** Conclusions of the client from the answer, in words. */
  readonly remarks: readonly Remark[];
  /** Why the client refuses the answer. */
  readonly refusal?: string;
}

export interface RunParts {
  readonly loopback: Loopback;
  /** The connection to the playground's proxy. */
  readonly proxy: Loopback;
  /** The connection over TLS, if an origin uses TLS. */
  readonly secure: { readonly loopback: Loopback; readonly origin: string } | undefined;
  /** The connection to the playground's authorization server. */
  readonly authorization: Way;
  readonly charge: Charge;
  readonly chargeOfIssuer: Charge;
  /** The origin that the messages name (RFC 9110 section 7.2). */
  readonly origin: string;
  readonly issue: Issue;
  readonly keys: ClientKeys;
  readonly apiKey: string;
  readonly issuer: string;
  readonly clientKey: KeyObject;
  readonly person: Person;
  readonly redirectUri: string;
  readonly clock: Clock;
  readonly random: Random;
}

/** Performs an exchange for a visitor, and returns its messages as they were on the wire. */
export type Run = (exchange: Exchange, choice: Choice, visitor: string) => Promise<readonly Leg[]>;

/** Milliseconds after which an exchange begins no more legs. Each leg has a time limit, too. */
const LONGEST = 15_000;

const PROMISED = 'In this stream the server has promised a request, and answers the request';

/**
 * Rejects with `HttpError` 429 if the visitor is over the limit, and 503 if the process performs too many exchanges.
 */
export function createRun(parts: RunParts): Run {
  const { loopback, proxy, secure, authorization, charge, chargeOfIssuer, origin, ...means } =
    parts;
  /** With CONNECT, Host has the same value as the target (RFC 9112 section 3.2). */
  const hosts: Readonly<Record<Party, (request: PlannedRequest) => string>> = {
    issuer: () => TOKEN_ISSUER,
    authorization: () => new URL(parts.issuer).host,
    proxy: ({ target }) => target,
  };
  const ways: Readonly<Partial<Record<Party, Way>>> = { proxy, authorization };
  const underWay = { all: 0, ofPair: 0 };
  /**
   * Exchanges that wait for the authorization server, which may be unavailable, leave a place to the other exchanges.
   */
  const isFull = ({ ofPair }: Exchange) =>
    underWay.all >= AT_ONCE || (ofPair === true && underWay.ofPair >= AT_ONCE - 1);
  return async (exchange, { mistake, http2 }, visitor) => {
    await charge(visitor);
    if (isFull(exchange)) {
      const fields = { 'Retry-After': '1' };
      throw new HttpError(503, 'Other visitors use the playground now.', fields);
    }
    underWay.all += 1;
    if (exchange.ofPair) underWay.ofPair += 1;
    try {
      if (exchange.ofPair) await chargeOfIssuer(visitor);
      const way = exchange.overTls ? secure : { loopback, origin };
      if (way === undefined) throw notFound();
      const { host } = new URL(way.origin);
      const url = way.origin + spacePath(exchange);
      const legs: (Leg & { readonly remarks: Remark[]; refusal?: string })[] = [];
      const began = parts.clock.monotonic();
      const add = (leg: Omit<Leg, 'remarks'>) => legs.push({ ...leg, remarks: [] });
      await exchange.perform({
        ...means,
        async send(title, request) {
          if (parts.clock.monotonic() - began > LONGEST) {
            throw notAnswered('the exchange takes too long');
          }
          const { to, from, fields, ofConnection } = request;
          let sent: Buffer = Buffer.alloc(0);
          const by = to === undefined ? way.loopback : (ways[to] ?? way.loopback);
          const write = (connection: Connection | undefined) => {
            const made = connection && ofConnection?.(connection);
            const planned = { ...request, fields: [...fields, ...(made ?? [])] };
            const asked = to === undefined ? host : hosts[to](request);
            sent = http2 ? writeRequestList(asked, planned) : writeRequest(asked, planned);
            return sent;
          };
          if (http2) {
            const { promised, ...streamed } = await way.loopback.stream(write, visitor);
            add({ title, to, from, ...streamed });
            for (const one of promised) {
              add({ title: PROMISED, to, from, promised: true, ...one, noted: undefined });
            }
            return readAnswer(streamed.received);
          }
          const answered = await by.send(write, visitor);
          add({ title, to, from, sent, ...answered });
          return readAnswer(answered.received);
        },
        async visit(request) {
          const write = () => writeRequest(hosts.authorization(request), request);
          return readAnswer((await authorization.send(write, visitor)).received);
        },
        async tunnel(title, connect, through) {
          const sent = writeRequest(connect.target, connect);
          const within = writeRequest(host, through.request);
          const { received, noted } = await proxy.send(() => sent, visitor, within);
          const opened = dividedAtTunnel(received);
          const answer = opened?.answer ?? received;
          add({ title, to: 'proxy', sent, received: answer, noted });
          if (opened === undefined) return;
          add({
            title: through.title,
            to: undefined,
            sent: within,
            received: opened.rest,
            noted: undefined,
          });
        },
        remark: (text, see) => legs.at(-1)?.remarks.push({ text, see }),
        refuse(why) {
          const last = legs.at(-1);
          if (last) last.refusal = why;
        },
        target: spacePath(exchange),
        url,
        mistake,
        http2,
      });
      return legs;
    } finally {
      underWay.all -= 1;
      if (exchange.ofPair) underWay.ofPair -= 1;
    }
  };
}
