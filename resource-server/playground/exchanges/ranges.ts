import type { Exchange } from '../exchange.ts';
import type { FieldLine } from '../http1-message.ts';
import { documentOf, etagOf, OF_DOCUMENTS } from './documents.ts';
import { atDocuments, putting } from '../in-shell.ts';

const TEXT = 'abcdefghijklmnopqrstuvwxyz';

/** The exchange of range requests (RFC 9110 section 14). */
export const rangesExchange: Exchange = {
  ...OF_DOCUMENTS,
  name: 'ranges',
  title: 'Ranges',
  about:
    'A client asks for a part of a document, for example to continue a download that ended early. If-Range names the version whose beginning the client has. If the document has changed, the client gets the whole document.',
  standard: 'RFC 9110 section 14',
  command: atDocuments(
    ['note.txt', ...putting('text/plain', TEXT)],
    ['note.txt', '-H', 'Range: bytes=0-9'],
  ),
  mistakes: {
    beyond: 'A range after the end of the document',
    changed: 'The rest of a version that no longer exists',
    malformed: 'A range that ends before it begins',
  },
  async perform(performing) {
    const { ask, remove } = documentOf(performing, 'txt');
    const { mistake = '' } = performing;
    const made = await ask('The client writes a document', {
      method: 'PUT',
      fields: [['Content-Type', 'text/plain']],
      content: TEXT,
    });
    await ask('The client asks for the first ten octets', {
      method: 'GET',
      fields: [['Range', 'bytes=0-9']],
    });
    const version = mistake === 'changed' ? '"another-version"' : etagOf(made);
    const asked: Readonly<Record<string, readonly FieldLine[]>> = {
      beyond: [['Range', 'bytes=100-199']],
      malformed: [['Range', 'bytes=9-0']],
    };
    await ask('The client asks for the rest of the same version', {
      method: 'GET',
      fields: asked[mistake] ?? [
        ['Range', 'bytes=10-'],
        ['If-Range', version],
      ],
    });
    await remove();
  },
};
