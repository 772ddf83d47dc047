import { type Bound, mutualClient } from '#shared/auth/schemes/mutual/client.ts';
import { endPoint } from '#shared/auth/schemes/mutual/validation.ts';
import type { AuthParams } from '#shared/http/auth/params.ts';
import { formatInfo } from '#shared/http/auth/challenge.ts';
import { notesIn } from '#shared/explain/note.ts';
import type { Exchange } from '../exchange.ts';
import type { FieldLine } from '../http1-message.ts';
import { PASSWORD, PERSON } from '../person.ts';
import { challengeOf, infoOf, REALM } from './parameters.ts';

const note = notesIn('RFC 8120');

const lineOf = (params: AuthParams): FieldLine => [
  'Authorization',
  `Mutual ${formatInfo('Mutual', params)}`,
];

/** RFC 8120, RFC 8121. */
export const mutualExchange: Exchange = {
  name: 'mutual',
  title: 'Mutual',
  about:
    'Client and server agree on a key that they can only have if they know the same password, or a verifier of it, and then each proves the key to the other. A listener, or a server that pretends to be this one, cannot try passwords against the messages.',
  standard: 'RFC 8120, RFC 8121',
  document: 'how-to/schemes/mutual.md',
  overTls: true,
  space: { schemes: ['Mutual'] },
  mistakes: {
    password: 'Another password',
    certificate: 'Somebody in the middle with a certificate of their own',
    replayed: 'The same proof a second time',
    cut: 'A proof that is cut off',
  },
  parameters: {
    realm: REALM,
    version: note('The version of the protocol.', '3'),
    algorithm: note('The group in which the keys are exchanged, and the hash.', '3.2'),
    validation: note('The proofs are bound to the certificate that the client sees.', '7'),
    'auth-scope': note('The host for which the password is.', '5'),
    reason: note('The server begins, or says why it begins again.', '4.1'),
    user: note('The name.', '4.2'),
    kc1: note('The client’s part of the exchange: a point of the curve.', '4.2'),
    sid: note('Names this exchange, and then the session.', '4.3'),
    ks1: note('The server’s part, into which its verifier of the password went.', '4.3'),
    'nc-max': note('The highest nc of a session.', '4.3'),
    'nc-window': note('By how much nc may be out of order.', '4.3'),
    time: note('The seconds for which the session is good.', '4.3'),
    path: note('The URLs for which the session is good.', '4.3'),
    nc: note('How often the session was used. The server takes each number once.', '4.4'),
    vkc: note('The client’s proof: a hash of the key, of nc, and of the certificate.', '4.4'),
    vks: note('The server’s proof: the same with another number before it.', '4.5'),
  },
  async perform({ send, remark, target, mistake, random }) {
    const request = { method: 'GET', target, fields: [] };
    const initial = await send('The client asks without credentials', request);
    const password = mistake === 'password' ? `${PASSWORD}!` : PASSWORD;
    const client = await mutualClient(
      challengeOf(initial),
      { name: PERSON.name, password },
      random,
    );
    if (client === undefined) throw new Error('the own server asks for another algorithm');
    const exchanged = await send('The client says its name and its part of the key', {
      ...request,
      fields: [lineOf(client.exchange)],
    });
    const session = client.session(challengeOf(exchanged));
    if (session === undefined) throw new Error('the own server gave no part of the key');
    const prove = async (title: string, nc: bigint) => {
      const made: { bound?: Bound; line?: FieldLine } = {};
      const answer = await send(title, {
        ...request,
        ofConnection({ certificate }) {
          const seen =
            mistake === 'certificate' ? Buffer.concat([certificate, Buffer.of(0)]) : certificate;
          made.bound = { nc, vh: endPoint(seen) };
          const { vkc = '', ...params } = session.verify(made.bound);
          made.line = lineOf({ ...params, vkc: mistake === 'cut' ? vkc.slice(0, -2) : vkc });
          return [made.line];
        },
      });
      const { vks } = infoOf(answer, 'Mutual');
      if (vks !== undefined && made.bound !== undefined) {
        remark(
          session.isFromServer(vks, made.bound)
            ? 'The client checks vks: the server knows the password, or its verifier, and nobody stands between them.'
            : 'The client checks vks: this is not the server that it knows.',
        );
      }
      return made.line ?? lineOf({});
    };
    const heard = await prove('The client proves that it has the key', 0n);
    if (mistake === undefined) await prove('The next request needs no new key: nc counts', 1n);
    if (mistake === 'replayed') {
      await send('Somebody repeats what was heard', { ...request, fields: [heard] });
    }
  },
};
