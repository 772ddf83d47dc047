/** One sign-in of a person with name and password, by each scheme that the server supports. */
import { digestClient } from '../clients/digest/digest-client.ts';
import type { DigestOptions } from '../clients/digest/digest-client.ts';
import type { ScramHash } from '../clients/scram/keys.ts';
import { scramClient } from '../clients/scram/scram-client.ts';
import type { Send } from '../clients/digest/exchange.ts';
import { basic, get, post, converse } from './attacked-pair.fixture.ts';
import type { Realm, Somebody, Conversation } from './attacked-pair.fixture.ts';

export interface Attempt {
  readonly name: string;
  readonly realm: Realm;
  make(who: Somebody, send: Send): Promise<Conversation>;
}

const digest = (
  name: string,
  realm: Realm,
  options: Pick<DigestOptions, 'algorithm'> = {},
): Attempt => ({
  name,
  realm,
  make: (who, send) => converse(digestClient({ ...who, ...options }), post(realm, 'content'), send),
});

const scram = (realm: Realm, hash: ScramHash): Attempt => ({
  name: `SCRAM-${hash}`,
  realm,
  make: (who, send) => converse(scramClient({ ...who, hash, unprompted: true }), get(realm), send),
});

export const BASIC: Attempt = {
  name: 'Basic',
  realm: 'basic',
  async make(who, send) {
    const request = get('basic', [basic(who)]);
    const answer = await send(request);
    return { sent: [request], answers: [answer], answer };
  },
};
export const DIGEST = digest('Digest', 'digest');
export const SCRAM = scram('scram-256', 'SHA-256');

export const ATTEMPTS: readonly Attempt[] = [
  BASIC,
  DIGEST,
  digest('Digest with auth-int', 'integrity'),
  digest('Digest with userhash, SHA-512-256', 'hashed', { algorithm: 'SHA-512-256' }),
  digest('Digest with userhash, SHA-256-sess', 'hashed', { algorithm: 'SHA-256-sess' }),
  SCRAM,
  scram('scram-1', 'SHA-1'),
];
