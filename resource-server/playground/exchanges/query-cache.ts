import type { Exchange } from '../exchange.ts';
import { addressOf, OF_CACHE } from './cached.ts';

const FORM = 'application/x-www-form-urlencoded';

/** The exchange of QUERY with a cache (RFC 10008 section 2.7). */
export const queryCacheExchange: Exchange = {
  ...OF_CACHE,
  name: 'query-cache',
  title: 'QUERY through a cache',
  about:
    'The question is in the content of the request, so the content is a part of the key under which a cache keeps the answer. The cache answers the same question. For another question it asks the application.',
  standard: 'RFC 10008 section 2.7, RFC 9111',
  mistakes: {
    type: 'The same question in a language that the application does not know',
    cut: 'A question that is cut off',
    bypassed: 'A client that does not want a stored answer',
  },
  async perform(performing) {
    const { mistake = '' } = performing;
    const { ask, begin } = addressOf(performing);
    await begin();
    const question = {
      method: 'QUERY',
      fields: [['Content-Type', FORM]],
      content: 'over=30',
    } as const;
    await ask('The client asks who is over 30', question);
    const sent: Readonly<Record<string, Parameters<typeof ask>[1]>> = {
      type: { ...question, fields: [['Content-Type', 'application/sql']] },
      cut: { ...question, content: 'over=' },
      bypassed: { ...question, fields: [...question.fields, ['Cache-Control', 'no-cache']] },
    };
    await ask('The client asks it again', sent[mistake] ?? question);
    if (mistake !== '') return;
    await ask('The client asks another question at the same address', {
      ...question,
      content: 'over=20',
    });
  },
};
