import { hobaCredentials } from '#shared/auth/schemes/hoba/client.ts';
import { HOBA_NOTES } from '#shared/explain/notes/hoba.ts';
import { HOBA_STEPS } from '#shared/explain/schemes/hoba.ts';
import type { Exchange } from '../exchange.ts';
import { challengeOf } from './parameters.ts';
import { ofScheme } from '../checks/told.ts';

const OTHER_ORIGIN = 'https://other.example';

/** The exchange of HOBA (RFC 7486). */
export const hobaExchange: Exchange = {
  name: 'hoba',
  title: 'HOBA',
  longName: 'HTTP Origin-Bound Authentication',
  about:
    'The browser signs a challenge with a key that it has made only for this origin, and there is no password. Two sites cannot find out that their keys are of the same browser. A stolen list of public keys is useless.',
  standard: 'RFC 7486',
  document: 'how-to/schemes/hoba.md',
  overTls: true,
  space: { schemes: ['HOBA'] },
  mistakes: {
    replayed: 'The same signature a second time',
    key: 'A key that is not registered',
    origin: 'A signature for another origin',
    challenge: 'A challenge that the server did not give',
    cut: 'A result that is cut off',
  },
  parameters: HOBA_NOTES,
  checks: ofScheme(() => HOBA_STEPS),
  async perform({ send, remark, target, url, mistake, random, keys }) {
    const request = { method: 'GET', target, fields: [] };
    const asked = await send('The client asks without credentials, and gets a challenge', request);
    remark(
      'The client made its key earlier, and registered the public key here for its account (RFC 7486 section 6.1). These steps are not shown.',
    );
    const { challenge = '' } = challengeOf(asked);
    const { kid, key } = mistake === 'key' ? await keys.unknownHoba() : await keys.hoba();
    const credentials = hobaCredentials(key, {
      kid,
      challenge: mistake === 'challenge' ? `${challenge.slice(0, -4)}AAAA` : challenge,
      nonce: random(12).toString('base64url'),
      origin: mistake === 'origin' ? OTHER_ORIGIN : new URL(url).origin,
    });
    const sent =
      mistake === 'cut' ? `${credentials.split('.').slice(0, 3).join('.')}"` : credentials;
    const last = { ...request, fields: [['Authorization', sent]] as const };
    await send('The client signs the challenge with its key of this origin', last);
    if (mistake === 'replayed') await send('An attacker sends the same request again', last);
  },
};
