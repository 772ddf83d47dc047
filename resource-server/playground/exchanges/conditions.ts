import type { Exchange } from '../exchange.ts';
import { documentOf, etagOf, OF_DOCUMENTS } from './documents.ts';
import { atDocuments, putting } from '../in-shell.ts';

const TYPE = ['Content-Type', 'text/plain'] as const;

/** The exchange of conditional requests (RFC 9110 section 13). */
export const conditionsExchange: Exchange = {
  ...OF_DOCUMENTS,
  name: 'conditions',
  title: 'Conditional requests',
  about:
    'A client makes a request depend on the version that it knows, by its ETag. So the server does not send the same version twice. If two people change the same version, the second change is refused.',
  standard: 'RFC 9110 section 13',
  command: atDocuments(
    ['note.txt', ...putting('text/plain', 'one', '-H', 'If-None-Match: *')],
    ['note.txt', ...putting('text/plain', 'two', '-H', 'If-None-Match: *')],
  ),
  mistakes: {
    lost: 'A change of a version that is not the newest',
    exists: 'A new document where there is one already',
    weak: 'A weak ETag for a change',
  },
  async perform(performing) {
    const { ask, remove } = documentOf(performing, 'txt');
    const { mistake } = performing;
    const made = await ask('The client writes a document, if none is there', {
      method: 'PUT',
      fields: [['If-None-Match', '*'], TYPE],
      content: 'one',
    });
    await ask('The client has this version, and asks for a newer version', {
      method: 'GET',
      fields: [['If-None-Match', etagOf(made)]],
    });
    if (mistake === 'exists') {
      await ask('The client writes a document as if none was there', {
        method: 'PUT',
        fields: [['If-None-Match', '*'], TYPE],
        content: 'two',
      });
    } else {
      const etag = mistake === 'weak' ? `W/${etagOf(made)}` : etagOf(made);
      await ask('The client changes the version that it knows', {
        method: 'PUT',
        fields: [['If-Match', etag], TYPE],
        content: 'two',
      });
    }
    if (mistake === 'lost') {
      await ask('Another client changes the version that it knows, which is not the newest', {
        method: 'PUT',
        fields: [['If-Match', etagOf(made)], TYPE],
        content: 'three',
      });
    }
    await remove();
  },
};
