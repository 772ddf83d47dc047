import { createHash } from 'node:crypto';
import { ServerResponse } from 'node:http';
import { constants, Http2ServerRequest } from 'node:http2';
import type { Writable } from 'node:stream';
import { admit } from '#shared/auth/judge/admit.ts';
import { refusal } from '#shared/auth/judge/refusal.ts';
import { authRequest, type Recipient } from '#shared/server/endpoints/auth-request.ts';
import { type Answer, type Fields, HttpError, notFound } from '#shared/http/answer.ts';
import type { AuthRequest, Outcome, ProtectionSpace } from '#shared/auth/scheme.ts';
import type { Standing } from '#shared/auth/standing/standing.ts';
import type { ProxyConfig } from '#shared/config/schema.ts';
import { lines } from '#shared/http/fields.ts';
import { errorAnswer, send } from '#shared/server/message/answer.ts';
import type { AnyHandler, AnyRequest, AnyResponse } from '#shared/server/message/message.ts';
import type { TunnelHandler, TunnelRequest } from '#shared/server/tunnels/tunnel.ts';
import { holdersOf } from '../space/account.ts';
import { createInShares } from '../exchange/at-most.ts';
import { maxForwards } from '../forwarding/max-forwards.ts';
import type { Errors } from '../pages/errors.ts';
import { ReadBuffers } from '../answers/read-buffers.ts';
import { targetOf, tunnelDestination } from './asked.ts';
import { createDestinations, type Listener } from '#shared/client/destinations/destinations.ts';
import { forward } from './forward.ts';
import { Inflow } from './inflow.ts';
import { type Line, type LineParts, startLine } from './line.ts';
import type { Network } from './network.ts';
import { createReach } from './reach.ts';
import { relay } from '../forwarding/relay.ts';
import { createJudgeLate, createUnderWay } from '../exchange/under-way.ts';
import { breakOff, exchangeOf, sideOf } from '../answers/side.ts';
import { allow, METHODS } from '#shared/http/methods.ts';
import { traceAnswer } from '../space/trace.ts';

/** Milliseconds for looking up a name, and again for connecting. */
const PATIENCE = 10_000;
/** The reason for aborting work for a client. Made once, since a stack trace costs more than a look-up. */
const LEFT = new Error('The client has left.');

export interface ProxyParts extends LineParts {
  readonly config: ProxyConfig;
  /** The space that decides who may use the proxy. */
  readonly space: ProtectionSpace;
  readonly recipient: Recipient;
  /** The proxy's origin for clients: scheme, host and port. */
  readonly origin: string;
  /** The addresses on which this server listens, for the destination `self`. */
  readonly self: () => readonly Listener[];
  readonly network: Network;
  readonly standing: Standing;
  readonly errors: Pick<Errors, 'told'>;
}

/** The handlers that a listener needs. */
export interface Proxy {
  readonly handler: AnyHandler;
  readonly tunnel: TunnelHandler;
}

type Passed = Extract<Outcome, { kind: 'pass' }>;

/**
 * A forward proxy for absolute-form requests (RFC 9112 section 3.2.2) and tunnels (RFC 9110 section 9.3.6). Each
 * request is authenticated, also on a persistent connection. Throws TypeError for an invalid destination.
 */
export function createProxy(parts: ProxyParts): Proxy {
  const { config, space, recipient, origin, self, network, standing, clock, random, errors } =
    parts;
  const reach = createReach(createDestinations(config.destinations, self), network, PATIENCE);
  /** The name in Via. It is random, to keep the host's name private (RFC 9110 section 7.6.3). */
  const pseudonym = `countersign-${random(6).toString('hex')}`;
  const buffers = new ReadBuffers();
  const underWay = createUnderWay(standing, clock);
  const judgeLate = createJudgeLate(standing, clock);
  const inShares = createInShares('tunnels', config.tunnels);

  /** Handles a request from the first byte to the last, whatever the outcome. */
  async function handler(request: AnyRequest, response: AnyResponse): Promise<void> {
    const line = startLine('proxy.request', parts);
    const gone = new AbortController();
    const client: Writable = response;
    exchangeOf(response).once('close', () => {
      gone.abort(LEFT);
      const cut = client.writableFinished ? undefined : true;
      line.write({ status: response.statusCode, cut });
    });
    const { signal } = gone;
    const answer = await handle(request, response, line, signal).catch(failed(line, signal));
    if (answer === undefined) return;
    // The sender may have read a malformed request differently (RFC 9112 section 11.2).
    if (answer.status === 400 && response instanceof ServerResponse)
      response.shouldKeepAlive = false;
    send(request, response, errors.told(request, named(answer, line), line.id));
  }

  /** Resolves to undefined if nothing is left to send. */
  async function handle(
    request: AnyRequest,
    response: AnyResponse,
    line: Line,
    signal: AbortSignal,
  ): Promise<Answer | undefined> {
    const { method = '' } = request;
    line.note({ method });
    const { uri, target } = targetOf(request);
    line.note({ host: target.authority, path: target.path.replace(/\?.*/s, '') });
    const mark = standing.mark();
    const began = clock.monotonic();
    const outcome = await admitted(
      authRequest(request, { method, target: uri, origin }, recipient),
      line,
    );
    if (outcome.kind !== 'pass') return denied(request, outcome);
    const { fields, seal } = outcome;
    underWay({ passed: outcome, mark }, exchangeOf(response), (reason) => {
      line.note({ reason });
      breakOff(sideOf(request));
    });
    return proven(outcome, { request, method, line, signal, errors }, async () => {
      // Digest with auth-int has already read the content, which may have arrived slowly.
      await judgeLate({ passed: outcome, mark }, began);
      if (maxForwards(request) === 0) return answerHere(request);
      if (lines(request.rawHeaders, 'via').some((via) => via.includes(pseudonym))) {
        throw new HttpError(
          508,
          'This request has passed this server already: a server behind it sends it back here. Mend the loop.',
        );
      }
      const socket = await reach(target, signal);
      const { idle } = config;
      await forward({ request, response, target, socket, fields, seal, pseudonym, idle });
      return undefined;
    });
  }

  async function tunnel(asked: TunnelRequest): Promise<void> {
    const line = startLine('proxy.tunnel', parts);
    const gone = new AbortController();
    const side: Writable = sideOf(asked.request);
    const leave = () => gone.abort(LEFT);
    side.once('close', leave);
    const { signal } = gone;
    const reached = () => side.off('close', leave);
    const answer = await connect(asked, line, signal, reached).catch(failed(line, signal));
    reached();
    line.write(answer ? { status: answer.status } : { cut: true });
    if (answer === undefined) return;
    asked.refuse(errors.told(asked.request, named(answer, line), line.id));
  }

  /** Resolves to undefined if nothing is left to send. `reached`: called when the signal no longer has work to end. */
  async function connect(
    asked: TunnelRequest,
    line: Line,
    signal: AbortSignal,
    reached: () => void,
  ): Promise<Answer | undefined> {
    const { request, authority } = asked;
    const destination = tunnelDestination(request, authority);
    line.note({ host: authority });
    const method = 'CONNECT';
    const about = { method, target: authority, origin };
    const content = { digest: async (hash: string) => createHash(hash).digest() }; // CONNECT has no content
    const mark = standing.mark();
    const connecting = authRequest(request, about, recipient, content);
    const outcome = await admitted(connecting, line);
    if (outcome.kind !== 'pass') return denied(request, outcome);
    return proven(outcome, { request, method, line, signal, errors }, async () => {
      const carry = async () => {
        const inflow = new Inflow(buffers);
        const socket = await reach(destination, signal, inflow);
        reached();
        let ended: string | undefined;
        const stop = standing.watch({ passed: outcome, mark }, 'revoked', (reason) => {
          ended = reason;
          breakOff(socket);
        });
        const over = await relay(asked.open(proof(outcome, '')), socket, inflow, config);
        stop();
        const { bytesRead, bytesWritten } = socket;
        line.write({ status: 200, end: ended ?? over, received: bytesRead, sent: bytesWritten });
        return undefined;
      };
      return inShares(holdersOf(outcome.principal, connecting.peer.address), carry);
    });
  }

  async function admitted(asked: AuthRequest, line: Line): Promise<Outcome> {
    const { outcome, noted } = await admit(space, asked);
    line.note(noted);
    return outcome;
  }

  return { handler, tunnel };
}

/** Adds the id of the log line to an answer of the proxy's own. */
const named = (answer: Answer, { id }: Line): Answer => ({
  ...answer,
  fields: { ...answer.fields, 'X-Request-Id': id },
});

/** Turns an error into an answer, or into nothing once the client has left. */
function failed(line: Line, signal: AbortSignal): (error: unknown) => Answer | undefined {
  return (error) => (signal.aborted ? undefined : line.fail(error));
}

interface Proven {
  readonly request: AnyRequest;
  readonly method: string;
  readonly line: Line;
  readonly signal: AbortSignal;
  readonly errors: Pick<Errors, 'told'>;
}

/** Adds the fields that the scheme sends to an authenticated client to every answer. */
async function proven(
  passed: Passed,
  { request, method, line, signal, errors }: Proven,
  run: () => Promise<Answer | undefined>,
): Promise<Answer | undefined> {
  const given = await run().catch(failed(line, signal));
  if (given === undefined) return undefined;
  const answer = errors.told(request, given);
  const body = method === 'HEAD' ? '' : (answer.body ?? '');
  return { ...answer, fields: { ...answer.fields, ...proof(passed, body) } };
}

function proof({ fields, seal }: Pick<Passed, 'fields' | 'seal'>, body: string): Fields {
  return { ...fields, ...seal?.proof(createHash(seal.hash).update(body).digest()) };
}

function denied(
  request: AnyRequest,
  outcome: Exclude<Outcome, { kind: 'pass' }>,
): Answer | undefined {
  if (outcome.kind === 'absent') return errorAnswer(notFound());
  if (outcome.http11 && request instanceof Http2ServerRequest) {
    request.stream.close(constants.NGHTTP2_HTTP_1_1_REQUIRED);
    return undefined;
  }
  return refusal(outcome);
}

/** All methods except PRI, which only begins a connection of HTTP/2. */
const ALLOW = allow([...METHODS.keys()].filter((method) => method !== 'PRI'));

/** The proxy's own answer to TRACE or OPTIONS when Max-Forwards ends at it (RFC 9110 section 7.6.2). */
async function answerHere(request: AnyRequest): Promise<Answer> {
  return request.method === 'OPTIONS'
    ? { status: 204, fields: { Allow: ALLOW } }
    : traceAnswer(request);
}
