import { BASIC_NOTES } from '#shared/explain/notes/basic.ts';
import { basicCredentials } from '#shared/auth/schemes/basic/client.ts';
import { answered, CREDENTIALS_STEP, told, type ToldStep } from '../checks/told.ts';
import type { Exchange } from '../exchange.ts';
import { PASSWORD, PERSON } from '../person.ts';
import { userPassInClear } from './basic.ts';
import { shellWord } from '#shared/base/shell-word.ts';

const STEPS: readonly ToldStep[] = [
  {
    check: 'The server knows the method.',
    section: 'RFC 9110 section 9.1',
    refuses: answered('501'),
  },
  CREDENTIALS_STEP,
  {
    check: 'The request has no content.',
    section: 'RFC 9110 section 9.3.8',
    refuses: answered('400'),
  },
];

/** The exchange of TRACE (RFC 9110 section 9.3.8). */
export const traceExchange: Exchange = {
  name: 'trace',
  title: 'TRACE',
  about:
    'The server sends the request back as content, so that a client sees what has arrived after all proxies. It leaves out credentials and cookies, so that the answer does not reveal them.',
  standard: 'RFC 9110 section 9.3.8',
  document: 'reference/methods.md',
  command: (url) =>
    `curl -si -X TRACE -u ${shellWord(`${PERSON.name}:${PASSWORD}`)} -H 'Cookie: secret=1' ${shellWord(url)}`,
  space: { schemes: ['Basic'], trace: {} },
  mistakes: { content: 'A request with content', anonymous: 'A request without credentials' },
  parameters: BASIC_NOTES,
  decoded: userPassInClear,
  checks: told(STEPS),
  async perform({ send, target, mistake }) {
    const authorization = ['Authorization', basicCredentials(PERSON.name, PASSWORD)] as const;
    await send('The client asks what has arrived, and names a cookie', {
      method: 'TRACE',
      target,
      fields: [...(mistake === 'anonymous' ? [] : [authorization]), ['Cookie', 'secret=1']],
      ...(mistake === 'content' && { content: 'hello' }),
    });
  },
};
