import type { Exchange } from '../exchange.ts';
import type { FieldLine } from '../http1-message.ts';
import { documentOf, etagOf, OF_DOCUMENTS } from './documents.ts';
import { atDocuments, putting } from '../in-shell.ts';

const MERGE: FieldLine = ['Content-Type', 'application/merge-patch+json'];
const PATCH: FieldLine = ['Content-Type', 'application/json-patch+json'];
const WHOLE: FieldLine = ['Prefer', 'return=representation'];

/** Operations on `{"name":"Alice","tags":["a"]}` (RFC 6902). */
const operationsOn = (name: string) =>
  JSON.stringify([
    { op: 'test', path: '/name', value: name },
    { op: 'add', path: '/tags/-', value: 'b' },
  ]);

/** The exchange of PATCH (RFC 5789, RFC 6902, RFC 7396). */
export const patchExchange: Exchange = {
  ...OF_DOCUMENTS,
  name: 'patch',
  title: 'PATCH',
  about:
    'A client sends only the change of a JSON document. A Merge Patch has the new values of members. A JSON Patch lists operations, and the server performs all of them or none. With If-Match the client changes only the version that it knows.',
  standard: 'RFC 5789, RFC 6902, RFC 7396',
  command: atDocuments(
    ['note.json', ...putting('application/json', '{"name":"Al","draft":true}')],
    ['note.json', '-X', 'PATCH', '-H', MERGE.join(': '), '-d', '{"name":"Alice","draft":null}'],
  ),
  mistakes: {
    test: 'A test in the patch that fails',
    lost: 'A patch of a version that is not the newest',
    type: 'A patch with a media type that is not for patches',
    cut: 'A patch that is cut off',
  },
  async perform(performing) {
    const { ask, remove } = documentOf(performing, 'json');
    const { remark, mistake } = performing;
    const made = await ask('The client writes a document', {
      method: 'PUT',
      fields: [['Content-Type', 'application/json']],
      content: '{"name":"Al","tags":["a"],"draft":true}',
    });
    const merged = await ask('The client sets one member and removes another, by a Merge Patch', {
      method: 'PATCH',
      fields: [['If-Match', etagOf(made)], MERGE],
      content: '{"name":"Alice","draft":null}',
    });
    remark(
      'In a Merge Patch a member with null is removed; members that the patch does not name stay (RFC 7396 section 2).',
    );
    const operations = operationsOn(mistake === 'test' ? 'Bob' : 'Alice');
    await ask('The client tests one member and adds to another, by a JSON Patch', {
      method: 'PATCH',
      fields: [
        ['If-Match', mistake === 'lost' ? etagOf(made) : etagOf(merged)],
        mistake === 'type' ? ['Content-Type', 'application/json'] : PATCH,
        WHOLE,
      ],
      content: mistake === 'cut' ? operations.slice(0, -1) : operations,
    });
    if (mistake === undefined) {
      remark(
        'The server performs the operations in their order, or none of them. /tags/- is the place after the last value of tags (RFC 6901 section 4).',
      );
    }
    await remove();
  },
};
