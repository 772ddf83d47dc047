import { scramClient } from '#shared/auth/schemes/scram/client.ts';
import { formatInfo } from '#shared/http/auth/challenge.ts';
import { SCRAM_NOTES } from '#shared/explain/notes/scram.ts';
import { decodeMessage, encodeMessage } from '#shared/auth/schemes/scram/base64.ts';
import { parseClientFinal } from '#shared/auth/schemes/scram/messages.ts';
import { SCRAM_FIRST_STEPS, scramFinalSteps } from '#shared/explain/schemes/scram.ts';
import { ofScheme } from '../checks/told.ts';
import type { Exchange } from '../exchange.ts';
import { PASSWORD, PERSON } from '../person.ts';
import { challengeOf, infoOf } from './parameters.ts';

const SCHEME = 'SCRAM-SHA-256';

/** The exchange of SCRAM (RFC 7804). */
export const scramExchange: Exchange = {
  name: 'scram-sha-256',
  title: SCHEME,
  longName: 'Salted Challenge Response Authentication Mechanism',
  about:
    'Client and server prove to each other that they know the password, or keys made of it, and neither sends it. An attacker who steals the server’s keys cannot sign in with only them, but can try out passwords. An eavesdropper can try out passwords, too, so use TLS.',
  standard: 'RFC 7804, RFC 5802',
  document: 'how-to/schemes/scram.md',
  space: { schemes: [SCHEME] },
  mistakes: {
    password: 'Another password',
    replayed: 'The last message a second time',
    nonce: 'Another nonce in the last message',
  },
  parameters: SCRAM_NOTES,
  decoded: (name, value) => (name === 'data' ? decodeMessage(value) : undefined),
  checks: ofScheme(({ params }) =>
    parseClientFinal(decodeMessage(params?.['data'] ?? '') ?? '')
      ? scramFinalSteps(params?.['sid'])
      : SCRAM_FIRST_STEPS,
  ),
  async perform({ send, remark, target, mistake, random }) {
    const request = { method: 'GET', target, fields: [] };
    const withData = (params: Record<string, string>, message: string) => {
      const written = formatInfo(SCHEME, { ...params, data: encodeMessage(message) });
      return { ...request, fields: [['Authorization', `${SCHEME} ${written}`]] as const };
    };
    const challenge = await send('The client asks without credentials', request);
    const { realm = '', sr } = challengeOf(challenge);
    const nonce = random(18).toString('base64');
    const client = scramClient('SHA-256', {
      name: PERSON.name,
      password: mistake === 'password' ? `${PASSWORD}!` : PASSWORD,
      nonce,
    });
    const begun = await send(
      'The client sends its name and a nonce, and gets the salt of the name',
      withData({ realm }, client.first),
    );
    remark(
      'The client hashes the password with s, i times (PBKDF2), and makes two keys of the result. The server has kept a hash of the first (StoredKey), and the second (ServerKey). The proof p is the first key, XORed with a value that is computed from StoredKey and the messages (RFC 5802 section 3).',
    );
    const { sid = '', data = '' } = challengeOf(begun);
    const serverFirst = decodeMessage(data) ?? '';
    const final = await client.final(serverFirst);
    if (final === undefined) return;
    const message = mistake === 'nonce' ? final.message.replace(',r=', ',r=x') : final.message;
    const last = withData({ sid }, message);
    const answer = await send('The client proves that it knows the password', last);
    const shown = decodeMessage(infoOf(answer, SCHEME)['data'] ?? '') ?? '';
    if (answer.status === 200) {
      remark(
        final.isFromServer(shown)
          ? 'The client checks v, a value of ServerKey and the messages: the server has the keys of this password.'
          : 'The client checks v: this is not the server that it knows.',
      );
    }
    if (mistake === 'replayed') await send('An attacker sends the same request again', last);
    if (mistake !== undefined || sr === undefined) return;
    const [, salted = '', iterations = ''] = /,(s=[^,]+,i=(\d+))$/.exec(serverFirst) ?? [];
    const again = await client.final(`r=${nonce}${iterations}${sr},${salted}`);
    if (again === undefined) return;
    await send(
      'At its next request the client proves the password at once, without being asked',
      withData({ realm }, again.message),
    );
    remark(
      'The first answer had a nonce for reauthentication, sr. The client makes the nonce of this exchange itself, from its own nonce, a counter, and sr. The counter begins with the number of iterations, and grows by one with each use. The client already knows the salt. So one request and its answer are enough, until sr is too old (ttl).',
    );
  },
};
