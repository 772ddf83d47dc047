import { createHmac } from 'node:crypto';
import { sameBytes } from '#shared/base/constant-time.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { Random } from '#shared/base/random.ts';
import type { AuthParams } from '#shared/http/auth/params.ts';
import type { Challenge } from '#shared/http/auth/challenge.ts';
import { customerOf } from '#shared/http/forwarded.ts';
import { usernameCaseMapped } from '#shared/people/names/precis.ts';
import { keptRealm } from '#shared/people/verifier-kind.ts';
import type { Verifiers } from '#shared/people/verifiers.ts';
import type { Limits, Rate } from '#shared/stores/limits/limits.ts';
import type { Sessions } from '#shared/stores/authentication/sessions.ts';
import type { UseCounts } from '#shared/stores/authentication/use-counts.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import type { Attempts } from '../../credentials/attempts.ts';
import { personPrincipal } from '../../person.ts';
import type { AuthRequest, Scheme, Verdict } from '../../scheme.ts';
import { MUTUAL_ALGORITHMS, type MutualAlgorithmName } from './algorithms.ts';
import { KAM3 } from './kam3.ts';
import type { Kam3Threads } from './kam3-threads.ts';
import {
  type KeyExchange,
  type KeyVerification,
  type MutualTerms,
  readMessage,
  refusalOfMessage,
} from './message.ts';
import { sessionTable, TIME, verifierName, type SessionTable } from './session-table.ts';
import { type Validation, validationOf } from './validation.ts';
import { verificationValue } from './verification.ts';
import { mutualKind, parseVerifier, scopeOf } from './verifier.ts';

export interface MutualOptions {
  readonly realm: string;
  readonly algorithm: MutualAlgorithmName;
  /** URLs that a session is for; absent at a proxy (RFC 8120 section 14). */
  readonly domain?: readonly string[];
  /** The certificate, in DER, of a proxy that terminates TLS in front of this server. */
  readonly certificate: Buffer | undefined;
  readonly verifiers: Pick<Verifiers, 'find'>;
  readonly sessions: Sessions;
  readonly useCounts: UseCounts;
  readonly attempts: Attempts;
  readonly limits: Pick<Limits, 'spend'>;
  /** Limit of key exchanges from one address. */
  readonly exchanges: Rate;
  /** A secret of 256 bits, the same in all processes, from which verifiers for unknown names are derived. */
  readonly secret: Buffer;
  readonly clock: Clock;
  readonly random: Random;
  readonly kam3: Kam3Threads;
}

/** The terms, the validation and the session table that apply to a request. */
interface Place {
  readonly terms: MutualTerms;
  readonly validation: Validation;
  readonly table: SessionTable;
  readonly request: AuthRequest;
}

/**
 * The reasons that the server sends (RFC 8120 section 4.1). It never sends `user-unknown` and `invalid-credential`,
 * so that a client learns nothing about names. It answers 503 without a challenge in place of `internal-error`, 403
 * in place of `authz-failed`, and `stale-session` in place of `reauth-needed`.
 */
type Reason = 'initial' | 'auth-failed' | 'stale-session' | 'invalid-parameters';

/** The highest nc, counted from 0; a client that reaches it exchanges keys again. */
const NC_MAX = 1_000_000;
/** The size of the window of `UseCounts` in which nc may arrive in any order. */
const NC_WINDOW = 128;
/** Seconds for which uses of nc are remembered after the end of their session. */
const AFTER = 60;

/**
 * Makes the Mutual scheme (RFC 8120), with the algorithms of RFC 8121. Both sides prove that they know the same
 * password. Neither an eavesdropper nor an impostor can test passwords against the messages. For an unknown name all
 * messages but the last look the same, and the last one looks like a wrong password.
 */
export function mutual(options: MutualOptions): Scheme {
  const { realm, algorithm, domain, certificate, verifiers, sessions, useCounts } = options;
  const { attempts, limits, exchanges, secret, clock, random, kam3 } = options;
  const { format, hashOctets, octets } = MUTUAL_ALGORITHMS[algorithm];
  /** Replaces the verifier of a person without one; it matches no password. */
  const none = Buffer.alloc(octets);

  /** Returns the place of a request; undefined if the certificate that the client sees is unknown. */
  function placeOf(request: AuthRequest): Place | undefined {
    const { origin, at } = request;
    const validation = validationOf(request, certificate);
    if (validation === undefined) return undefined;
    const terms = { algorithm, validation: validation.method, scope: scopeOf(origin), realm };
    const context = JSON.stringify([at.status, origin, terms]);
    return { terms, validation, table: sessionTable(sessions, random, context), request };
  }

  const message = ({ validation, scope }: MutualTerms, params: AuthParams): Challenge => ({
    scheme: 'Mutual',
    params: { version: '1', algorithm, validation, 'auth-scope': scope, realm, ...params },
  });

  /** Answers with 401-INIT or 401-STALE (RFC 8120 section 4.1). */
  const refused = ({ terms }: Place, why: Reason, refusal: Refusal): Verdict => ({
    kind: 'refused',
    ...refusal,
    challenges: [message(terms, { reason: why })],
  });

  /** Returns the input for a fake verifier, as pi is the input for a real one. */
  const nobodyOf = (user: string, { scope }: MutualTerms): Buffer =>
    createHmac('sha512', secret)
      .update(JSON.stringify([algorithm, scope, realm, user]))
      .digest()
      .subarray(0, hashOctets);

  async function find(name: string, scope: string) {
    const kind = mutualKind(algorithm, scope);
    const found = await verifiers.find(kind.kind, keptRealm(kind, realm), { name });
    const verifier = parseVerifier(algorithm, found?.value ?? none.toString('base64url'));
    return found && verifier && { person: found.person, verifier };
  }

  /**
   * Answers req-KEX-C1 with 401-KEX-S1 (RFC 8120 sections 4.2 and 4.3). The limits apply before the expensive
   * computation.
   */
  async function exchange({ user, clientValue }: KeyExchange, place: Place): Promise<Verdict> {
    const { terms, table, request } = place;
    if (!KAM3[algorithm].isElement(clientValue)) {
      return refused(place, 'invalid-parameters', refuse('mutual-element'));
    }
    const { address } = request.peer;
    const paid = await limits.spend('exchange', customerOf(address), exchanges);
    if (!paid.ok) {
      const { retryAfter } = paid;
      return { kind: 'unavailable', status: 429, ...refuse('mutual-exchanges'), retryAfter };
    }
    const tooMany = await attempts.begin(accountOf(user), address);
    if (tooMany !== undefined) return tooMany;
    const verifier = (await find(user, terms.scope))?.verifier;
    const nobody = nobodyOf(user, terms);
    const ours = KAM3[algorithm].secret(random);
    const turn = attempts.turn(accountOf(user), request);
    const exchanged = await kam3.exchange(turn, algorithm, ours, nobody, clientValue, verifier);
    if (exchanged === undefined) {
      return refused(place, 'invalid-parameters', refuse('mutual-exchange'));
    }
    const sid = await table.add({
      state: 'key exchanging',
      user,
      verifier: verifierName(verifier ?? nobody),
      made: clock.now(),
      clientValue,
      ...exchanged,
    });
    const ks1 = exchanged.serverValue.toString(format);
    const path = domain && { path: domain.join(' ') };
    const times = { 'nc-max': `${NC_MAX}`, 'nc-window': `${NC_WINDOW}`, time: `${TIME}` };
    return { kind: 'continued', challenge: message(terms, { sid, ks1, ...times, ...path }) };
  }

  /** Answers req-VFY-C with 200-VFY-S (RFC 8120 sections 4.4, 4.5 and 11). */
  async function verify({ sid, nc, proof }: KeyVerification, place: Place): Promise<Verdict> {
    const { terms, validation, table, request } = place;
    const { address } = request.peer;
    const known = await table.get(sid);
    const first = known?.state === 'key exchanging';
    // Until a session is authenticated, only one proof is checked, since a wrong proof is a guessed password.
    const session = first ? await table.take(sid) : known;
    if (session === undefined) return refused(place, 'stale-session', refuse('mutual-session'));

    const { user } = session;
    const bound = { nc, vh: validation.vh() };
    const right = sameBytes(proof, verificationValue('client', algorithm, session, bound));
    const somebody = await find(user, terms.scope);
    const same = verifierName(somebody?.verifier ?? none) === session.verifier;
    const person = same && somebody?.person;
    if (first && !(right && person)) {
      attempts.failed(accountOf(user), address);
      return refused(place, 'auth-failed', refuse('mutual-name'));
    }
    // A wrong proof does not end the session; otherwise an attacker could end it.
    if (!right) return refused(place, 'auth-failed', refuse('mutual-proof'));
    const number = nc > NC_MAX ? 0 : Number(nc) + 1;
    const once = { made: session.made, seconds: TIME + AFTER };
    if (!person || (await useCounts.use('mutual', sid, number, once)) !== 'first') {
      await table.take(sid);
      return refused(place, 'stale-session', refuse('mutual-used'));
    }
    if (first) {
      attempts.succeeded(accountOf(user), address);
      await table.put(sid, { ...session, state: 'authenticated' });
    }
    const vks = verificationValue('server', algorithm, session, bound).toString(format);
    return {
      kind: 'granted',
      principal: personPrincipal(realm, person),
      proof: { info: { version: '1', sid, vks } },
    };
  }

  return {
    name: 'Mutual',

    challenge(request) {
      const place = placeOf(request);
      return place ? [message(place.terms, { reason: 'initial' })] : [];
    },

    needs: (request) =>
      placeOf(request) ? undefined : 'Mutual needs TLS whose certificate is known here.',

    async authenticate({ params = {} }, request) {
      const place = placeOf(request);
      if (place === undefined) {
        return { kind: 'refused', ...refuse('mutual-certificate'), challenges: [] };
      }
      const read = readMessage(params, place.terms);
      if (typeof read === 'string') {
        return refused(place, 'invalid-parameters', refusalOfMessage(read));
      }
      return 'sid' in read ? verify(read, place) : exchange(read, place);
    },
  };
}

/** Returns the account whose attempts are counted, the same for all forms of a name. */
const accountOf = (user: string) => usernameCaseMapped(user) ?? user;
