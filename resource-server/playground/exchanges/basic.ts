import { basicCredentials } from '#shared/auth/schemes/basic/client.ts';
import { shellWord } from '#shared/base/shell-word.ts';
import { BASIC_NOTES } from '#shared/explain/notes/basic.ts';
import { BASIC_STEPS } from '#shared/explain/schemes/basic.ts';
import type { Exchange } from '../exchange.ts';
import { PASSWORD, PERSON } from '../person.ts';
import { ofScheme } from '../checks/told.ts';

/** The credentials that the client sends, by the name of its mistake. */
const CREDENTIALS: Readonly<Record<string, string>> = {
  right: basicCredentials(PERSON.name, PASSWORD),
  password: basicCredentials(PERSON.name, `${PASSWORD}!`),
  name: basicCredentials('nobody', PASSWORD),
  cut: basicCredentials(PERSON.name, PASSWORD).slice(0, -3),
};

/** Decodes credentials to a name and a password. */
export const userPassInClear = (name: string, value: string): string | undefined =>
  name === 'token68' ? Buffer.from(value, 'base64').toString() : undefined;

/** The exchange of Basic (RFC 7617). */
export const basicExchange: Exchange = {
  name: 'basic',
  title: 'Basic',
  about:
    'The client sends the name and the password with every request, in base64. Anybody who sees one request has the password, so Basic is for TLS only.',
  standard: 'RFC 7617',
  document: 'how-to/schemes/basic.md',
  space: { schemes: ['Basic'] },
  command: (url) => `curl -si -u ${shellWord(`${PERSON.name}:${PASSWORD}`)} ${shellWord(url)}`,
  mistakes: {
    password: 'Another password',
    name: 'A name that does not exist',
    cut: 'Credentials that are cut off',
  },
  parameters: BASIC_NOTES,
  decoded: userPassInClear,
  checks: ofScheme(() => BASIC_STEPS),
  async perform({ send, target, mistake = 'right' }) {
    const request = { method: 'GET', target, fields: [] };
    await send('The client asks without credentials, and learns the scheme and the realm', request);
    const authorization = CREDENTIALS[mistake] ?? '';
    await send('The client repeats the request with the name and the password', {
      ...request,
      fields: [['Authorization', authorization]],
    });
  },
};
