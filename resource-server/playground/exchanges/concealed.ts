import { concealedCredentials } from '#shared/auth/schemes/concealed/prove.ts';
import { CONCEALED_NOTES } from '#shared/explain/notes/concealed.ts';
import { CONCEALED_STEPS } from '#shared/explain/schemes/concealed.ts';
import type { Exchange, Performing } from '../exchange.ts';
import type { FieldLine, ReadAnswer } from '../http1-message.ts';
import { ofScheme } from '../checks/told.ts';

/** Fields whose values differ between any two answers. */
const OF_ITS_OWN: ReadonlySet<string> = new Set(['date', 'x-request-id']);

/** True if two answers show no difference. */
function alike(one: ReadAnswer, other: ReadAnswer): boolean {
  const told = ({ status, fields, content }: ReadAnswer) =>
    JSON.stringify([
      status,
      fields.filter(([name]) => !OF_ITS_OWN.has(name.toLowerCase())),
      content,
    ]);
  return told(one) === told(other);
}

/** Sends credentials that are computed for the connection that carries them. */
function prove({ send, target, url, keys, mistake }: Performing, title: string) {
  const key = mistake === 'key' ? keys.unknownEd25519() : keys.ed25519();
  const proved: { line?: FieldLine } = {};
  const answered = send(title, {
    method: 'GET',
    target,
    fields: [],
    ofConnection({ exporter }) {
      const credentials = concealedCredentials({ key, url, exporter }) ?? '';
      // After the cut, one character of the last group of four is left, which base64url never has (RFC 4648 section 5).
      const cut = mistake === 'cut' ? credentials.slice(0, -5) : credentials;
      proved.line = ['Authorization', cut];
      return [proved.line];
    },
  });
  return answered.then((answer) => ({
    answer,
    line: proved.line ?? (['Authorization', ''] as const),
  }));
}

/** The exchange of Concealed (RFC 9729). */
export const concealedExchange: Exchange = {
  name: 'concealed',
  title: 'Concealed, beside an address where nothing is',
  about:
    'The client proves its key in its first request, with a value that only client and server of this TLS connection know. Any other client gets the answer of an address where nothing is, and cannot find out that there is something.',
  standard: 'RFC 9729',
  document: 'how-to/schemes/concealed.md',
  overTls: true,
  space: { schemes: ['Concealed'], hide: 'everything' },
  mistakes: {
    key: 'A key that is not registered',
    replayed: 'The same proof on another connection',
    cut: 'A proof that is cut off',
  },
  parameters: CONCEALED_NOTES,
  checks: ofScheme(() => CONCEALED_STEPS),
  async perform(performing) {
    const { send, remark, target, mistake } = performing;
    const request = { method: 'GET', fields: [] };
    const hidden = await send('Another client asks without credentials', { ...request, target });
    const nothing = await send('Another client asks where nothing is', {
      ...request,
      target: target.replace(/[^/]+\/$/, 'nothing-is-here/'),
    });
    const told = (answer: ReadAnswer, both = 'This answer and the one where nothing is') =>
      remark(
        alike(answer, nothing)
          ? `${both} are the same, apart from their times and request ids.`
          : 'The answer differs from the one where nothing is.',
      );
    told(hidden, 'The first answer and this answer');
    const { answer, line } = await prove(performing, 'The client proves its key on its connection');
    if (mistake !== undefined && mistake !== 'replayed') told(answer);
    if (mistake === 'replayed') {
      told(
        await send('An attacker sends the same request again', {
          ...request,
          target,
          fields: [line],
        }),
      );
    }
  },
};
