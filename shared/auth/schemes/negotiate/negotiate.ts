import type { Clock } from '#shared/base/clock.ts';
import type { Verifiers } from '#shared/people/verifiers.ts';
import type { Challenge } from '#shared/http/auth/challenge.ts';
import { customerOf } from '#shared/http/forwarded.ts';
import { type Gss, GssRefused, type Step } from '../parts/gss.ts';
import { type Handshake, Handshakes } from './handshakes.ts';
import { readToken } from './spnego.ts';
import type { Replay } from '#shared/stores/authentication/replay.ts';
import type { Attempts } from '../../credentials/attempts.ts';
import { personPrincipal } from '../../person.ts';
import { type Fields } from '#shared/http/answer.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import {
  type AuthRequest,
  NotSetUp,
  ORIGIN,
  type Position,
  type Scheme,
  type Verdict,
} from '../../scheme.ts';

export interface NegotiateOptions {
  readonly realm: string;
  /** Undefined if the module is not built; then the scheme has no challenge and admits no client. */
  readonly gss: Gss | undefined;
  readonly verifiers: Pick<Verifiers, 'kerberos'>;
  readonly replay: Replay;
  readonly attempts: Attempts;
  readonly clock: Clock;
}

/** The most handshakes that may wait for their next message. */
const WAITING = 1000;
/** Milliseconds that a whole handshake may take. */
const PATIENCE = 30_000;

/**
 * Seconds for which a request is remembered. Kerberos accepts a request whose clock is up to 5 minutes off to either
 * side (RFC 4120 section 10), and the clocks of our servers may differ, too.
 */
const REPLAY_WINDOW = 900;

/**
 * Tells clients that each request is authenticated, not the connection; without this field curl sends its next
 * request without credentials first.
 */
const EACH_REQUEST: Fields = { 'Persistent-Auth': 'false' };

/** Returns the account for attempts: the address alone, since a ticket's owner is known only after it is verified. */
const anybodyAt = (address: string) => `negotiate ${customerOf(address)}`;

const OFF = 'Negotiate is not set up on this server';
/** An unknown principal and a malformed token get the same answer, so the client cannot distinguish them. */
const refused = (refusal: Refusal): Verdict => ({ kind: 'refused', ...refusal, untold: true });
const challenge = (token?: Buffer): Challenge => ({
  scheme: 'Negotiate',
  ...(token && { token68: token.toString('base64') }),
});

/** A message for GSS, and the handshake that it belongs to. */
interface Message {
  readonly bytes: Buffer;
  readonly handshake: Handshake;
}

/**
 * Makes the Negotiate scheme (RFC 4559): a Kerberos ticket in one message, or in several messages on one connection.
 */
export function negotiate(options: NegotiateOptions): Scheme {
  const { realm, gss, verifiers, replay, attempts, clock } = options;
  const handshakes = new Handshakes(clock, WAITING);

  /** Reads a message for GSS; returns the reason if the token is not acceptable. */
  function read(token68: string | undefined, connection: object): Message | Refusal {
    if (gss === undefined) return refuse('negotiate-off');
    const begun = handshakes.take(connection);
    const token = readToken(token68);
    if ('refusal' in token) return token;
    const { first, bytes, ...request } = token;
    if (first) {
      const until = clock.now() + PATIENCE;
      return { bytes, handshake: { acceptor: gss.accept(), until, ...request } };
    }
    if (begun === undefined) return refuse('negotiate-not-begun');
    if (begun.authenticator && request.authenticator) return refuse('negotiate-two-requests');
    return { bytes, handshake: { ...begun, ...request } };
  }

  async function grant(
    { principal, token }: Extract<Step, { done: true }>,
    authenticator: Buffer | undefined,
    at: Position,
  ): Promise<Verdict> {
    if (authenticator === undefined) return refused(refuse('negotiate-no-request'));
    const key = authenticator.toString('base64');
    if (!(await replay.unique('negotiate', key, REPLAY_WINDOW)))
      return refused(refuse('negotiate-used'));
    const person = await verifiers.kerberos(principal);
    if (person === undefined) return refused(refuse('negotiate-no-person', { principal }));
    return {
      kind: 'granted',
      principal: personPrincipal(realm, person),
      proof: {
        ...(token && { ask: challenge(token) }),
        ...(at === ORIGIN && { fields: EACH_REQUEST }),
      },
    };
  }

  async function look(bytes: Buffer, handshake: Handshake, request: AuthRequest): Promise<Verdict> {
    const { at, peer } = request;
    const turn = attempts.turn(anybodyAt(peer.address), request);
    const step = await handshake.acceptor.step(turn, bytes).catch((error: unknown) => {
      if (error instanceof GssRefused) return error;
      throw error;
    });
    if (step instanceof GssRefused)
      return refused(refuse('negotiate-ticket', { why: step.message }));
    if (step.done) return grant(step, handshake.authenticator, at);
    if (peer.http2) {
      return { kind: 'refused', as: 'http-1.1', ...refuse('negotiate-http2') };
    }
    if (peer.trusted) return refused(refuse('negotiate-proxy'));
    handshakes.put(peer.connection, handshake);
    return { kind: 'continued', challenge: challenge(step.token) };
  }

  return {
    name: 'Negotiate',
    ambient: true,

    challenge() {
      if (gss === undefined) throw new NotSetUp(OFF);
      return [challenge()];
    },

    needs: () => (gss === undefined ? `${OFF}.` : undefined),

    async authenticate({ token68 }, request) {
      const { peer } = request;
      const message = read(token68, peer.connection);
      if ('refusal' in message) return refused(message);
      const { bytes, handshake } = message;
      const anybody = anybodyAt(peer.address);
      const tooMany = await attempts.begin(anybody, peer.address);
      if (tooMany !== undefined) return tooMany;
      const verdict = await look(bytes, handshake, request);
      if (verdict.kind === 'granted') attempts.succeeded(anybody, peer.address);
      else if (verdict.kind === 'refused') attempts.failed(anybody, peer.address);
      return verdict;
    },
  };
}
