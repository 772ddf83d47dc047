import type { Exchange } from '../exchange.ts';
import { documentOf, OF_DOCUMENTS } from './documents.ts';
import { atDocuments } from '../in-shell.ts';

/** The exchange of OPTIONS (RFC 9110 section 9.3.7). */
export const optionsExchange: Exchange = {
  ...OF_DOCUMENTS,
  name: 'options',
  title: 'OPTIONS, and methods that are not there',
  about:
    'The server names the methods of an address, and the formats of patches and questions that it accepts. If only this address does not have a method, the answer is 405. If no address has the method, the answer is 501.',
  standard: 'RFC 9110 section 9.3.7',
  command: atDocuments(['note.json', '-X', 'OPTIONS']),
  mistakes: {
    here: 'A method that this address does not have',
    nowhere: 'A method that the server does not know',
    case: 'A method in lower case, which is another method',
  },
  async perform(performing) {
    const { ask, remove } = documentOf(performing, 'json');
    const { mistake = '', target } = performing;
    await ask('The client asks about an address where nothing is', { method: 'OPTIONS' });
    await ask('The client writes a document there', {
      method: 'PUT',
      fields: [['Content-Type', 'application/json']],
      content: '{}',
    });
    await ask('The client asks about it again', { method: 'OPTIONS' });
    const wrong: Readonly<Record<string, { readonly method: string; readonly target?: string }>> = {
      here: { method: 'PUT', target },
      nowhere: { method: 'FROBNICATE' },
      case: { method: 'get' },
    };
    const asked = wrong[mistake];
    if (asked) await ask('The client uses such a method', asked);
    await remove();
  },
};
