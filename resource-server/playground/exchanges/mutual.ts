import { type Bound, mutualClient } from '#shared/auth/schemes/mutual/client.ts';
import { endPoint } from '#shared/auth/schemes/mutual/validation.ts';
import type { AuthParams } from '#shared/http/auth/params.ts';
import { formatInfo } from '#shared/http/auth/challenge.ts';
import { MUTUAL_NOTES } from '#shared/explain/notes/mutual.ts';
import { KEY_EXCHANGE_STEPS, KEY_VERIFICATION_STEPS } from '#shared/explain/schemes/mutual.ts';
import { ofScheme } from '../checks/told.ts';
import type { Exchange } from '../exchange.ts';
import type { FieldLine } from '../http1-message.ts';
import { PASSWORD, PERSON } from '../person.ts';
import { answeredOtherwise, challengeOf, infoOf } from './parameters.ts';

const lineOf = (params: AuthParams): FieldLine => [
  'Authorization',
  `Mutual ${formatInfo('Mutual', params)}`,
];

/** The exchange of Mutual (RFC 8120, RFC 8121). */
export const mutualExchange: Exchange = {
  name: 'mutual',
  title: 'Mutual',
  about:
    'Client and server agree on a key. They get the same key only if the client knows the password, and the server its verifier. Then each proves the key to the other. An eavesdropper or a false server cannot try passwords against the messages.',
  standard: 'RFC 8120, RFC 8121',
  document: 'how-to/schemes/mutual.md',
  overTls: true,
  space: { schemes: ['Mutual'] },
  mistakes: {
    password: 'Another password',
    certificate: 'An attacker in the middle with another certificate',
    replayed: 'The same proof a second time',
    cut: 'A proof that is cut off',
  },
  parameters: MUTUAL_NOTES,
  checks: ofScheme(({ params }) =>
    params?.['sid'] === undefined ? KEY_EXCHANGE_STEPS : KEY_VERIFICATION_STEPS,
  ),
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
    const exchanged = await send('The client sends its name and its part of the key', {
      ...request,
      fields: [lineOf(client.exchange)],
    });
    const session = client.session(challengeOf(exchanged));
    if (session === undefined) throw answeredOtherwise(exchanged);
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
            ? 'The client checks vks: the server knows the password, or its verifier, and there is no attacker in the middle.'
            : 'The client checks vks: this is not the server that it knows.',
        );
      }
      return made.line ?? lineOf({});
    };
    const heard = await prove('The client proves that it has the key', 0n);
    if (mistake === undefined)
      await prove('The next request needs no new key: nc grows by one', 1n);
    if (mistake === 'replayed') {
      await send('An attacker sends the same request again', { ...request, fields: [heard] });
    }
  },
};
