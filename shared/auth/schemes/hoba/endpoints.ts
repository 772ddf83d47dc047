import type { Clock } from '#shared/base/clock.ts';
import { type Answer, HttpError, UNSTORED } from '#shared/http/answer.ts';
import { formatChallenge } from '#shared/http/auth/challenge.ts';
import { parseCredentials } from '#shared/http/auth/credentials.ts';
import { addPublicKey, MOST_KEYS } from '#shared/people/key-purposes.ts';
import type { Directory, Person } from '#shared/people/directory.ts';
import type { Clients } from '#shared/stores/oauth/clients.ts';
import type { PublicKeyRecord, PublicKeys } from '#shared/stores/credentials/public-keys.ts';
import type { AuthRequest } from '../../scheme.ts';
import type { SchemeEndpoint, SchemeEndpoints } from '../parts/scheme-entry.ts';
import type { Challenges } from './challenges.ts';
import { hobaChallenge, isSecure } from './hoba.ts';
import { type Invitations, KEY_PAGE } from './invitations.ts';
import { notInvited, parseRegistration } from './registration.ts';
import type { Against, Refused, Signatures, Verifying } from './signatures.ts';

export interface HobaEndpointsOptions {
  readonly challenges: Challenges;
  readonly signatures: Signatures;
  readonly invitations: Pick<Invitations, 'find' | 'redeem'>;
  readonly stores: {
    readonly publicKeys: Pick<PublicKeys, 'add' | 'get' | 'remove' | 'signOut'>;
    readonly clients: Pick<Clients, 'withKey'>;
  };
  readonly directory: Pick<Directory, 'find'>;
  readonly clock: Clock;
  /** Returns the page that makes a key for an origin, in the reader's language. */
  readonly page: (origin: string, acceptLanguage: string | undefined) => Answer;
}

/** Creates the endpoints below `/.well-known/hoba/` (RFC 7486 section 6). */
export function hobaEndpoints(options: HobaEndpointsOptions): SchemeEndpoints {
  const { challenges, signatures, invitations, stores, directory, clock, page } = options;
  const { publicKeys } = stores;

  /**
   * Returns a challenge that asks for a signature. At these endpoints each signature and each challenge is accepted
   * once.
   */
  const asking = (origin: string) => formatChallenge(hobaChallenge(challenges.issue(origin), 0));

  /** Returns the key that signed the request. Throws `HttpError` and `BadRequest`. */
  async function signedBy<Key extends Verifying>(
    request: AuthRequest,
    find: Against<Key>['find'],
  ): Promise<Key> {
    const value = request.field('authorization');
    const credentials = value === undefined ? undefined : parseCredentials(value);
    const params = credentials?.scheme === 'hoba' ? (credentials.params ?? {}) : {};
    const signer = await signatures.signer(params, request, { maxAge: 0, find });
    if (signer.kind === 'signed') return signer.key;
    throw refusal(signer, asking(request.origin));
  }

  async function register(request: AuthRequest, content: Buffer): Promise<Answer> {
    const { origin } = request;
    const { secret, ...sent } = parseRegistration(request.field('content-type'), content);
    const candidate = { ...sent, scheme: 'HOBA', origin } as const;
    // Without this signature an attacker could register another person's key for their own account.
    await signedBy(request, async (kid) => {
      // The link is checked first: a stranger's own key would verify, which would free the stranger from the limit
      // and be stored as a use.
      if ((await invitations.find(secret, origin)) === undefined) throw notInvited();
      return kid === candidate.id ? candidate : undefined;
    });
    const invited = await invitations.redeem(secret, origin);
    const person = invited === undefined ? undefined : await directory.find(invited.person);
    if (invited === undefined || person === undefined) throw notInvited();
    const owner = { kind: 'person', id: person.id } as const;
    const { acr } = invited;
    const key: PublicKeyRecord = { ...candidate, acr, owner, created_at: clock.now() };
    const added = await addPublicKey(stores, key);
    if (added === 'added') return registered(person);
    throw new HttpError(
      409,
      added === 'full'
        ? `You have ${MOST_KEYS} keys: remove one first.`
        : 'This key is known already: make another.',
    );
  }

  function freshChallenge({ origin }: AuthRequest): Answer {
    const challenge = challenges.issue(origin);
    const fields = {
      'Content-Type': 'text/plain',
      'WWW-Authenticate': formatChallenge(hobaChallenge(challenge, 0)),
    };
    return { status: 200, fields: { ...UNSTORED, ...fields }, body: challenge };
  }

  async function signOut(request: AuthRequest): Promise<Answer> {
    const { id } = await signedBy(request, (kid) => publicKeys.get(kid));
    await publicKeys.signOut(id, clock.now());
    return { status: 204, fields: UNSTORED };
  }

  const keyPage = ({ origin, lines }: AuthRequest): Answer =>
    page(origin, lines('accept-language')[0]);

  return {
    [KEY_PAGE]: { methods: ['GET', 'HEAD'], answer: keyPage },
    '/.well-known/hoba/register': { methods: ['POST'], answer: secure(register) },
    '/.well-known/hoba/getchal': { methods: ['POST'], answer: secure(freshChallenge) },
    '/.well-known/hoba/logout': { methods: ['POST'], answer: secure(signOut) },
  };
}

/** Names the key's owner, so that a person who followed another person's link notices. */
const registered = ({ name }: Person): Answer => ({
  status: 200,
  fields: { ...UNSTORED, 'Content-Type': 'text/plain; charset=utf-8', Hobareg: 'regok' },
  body: name,
});

/** Requires TLS for all of these endpoints (RFC 7486 section 6). */
const secure =
  (answer: SchemeEndpoint['answer']): SchemeEndpoint['answer'] =>
  (request, content) => {
    if (!isSecure(request)) throw new HttpError(403, 'HOBA is not taken in clear text: use https.');
    return answer(request, content);
  };

function refusal(refused: Refused, challenge: string): HttpError {
  const error =
    refused.kind === 'refused'
      ? new HttpError(401, 'Sign a fresh challenge with the key.', {
          'WWW-Authenticate': challenge,
        })
      : new HttpError(refused.status, 'Too much was tried: wait.', {
          'Retry-After': String(Math.max(1, Math.ceil(refused.retryAfter))),
        });
  return Object.assign(error, { reason: refused.reason });
}
