import type { Exchange } from '../exchange.ts';
import type { FieldLine } from '../http1-message.ts';
import { documentOf, etagOf, OF_DOCUMENTS } from './documents.ts';

const MERGE: FieldLine = ['Content-Type', 'application/merge-patch+json'];
const PATCH: FieldLine = ['Content-Type', 'application/json-patch+json'];
const WHOLE: FieldLine = ['Prefer', 'return=representation'];

/** Operations on `{"name":"Alice","tags":["a"]}` (RFC 6902). */
const operationsOn = (name: string) =>
  JSON.stringify([
    { op: 'test', path: '/name', value: name },
    { op: 'add', path: '/tags/-', value: 'b' },
  ]);

/** RFC 5789, RFC 6902, RFC 7396. */
export const patchExchange: Exchange = {
  ...OF_DOCUMENTS,
  name: 'patch',
  title: 'PATCH',
  about:
    'A client sends the change of a JSON document instead of the whole: a Merge Patch says how members look afterwards, a JSON Patch lists operations, all or none of which are done. With If-Match it changes the version that it knows.',
  standard: 'RFC 5789, RFC 6902, RFC 7396',
  mistakes: {
    test: 'A test in the patch that fails',
    lost: 'A patch of a version that is not the newest',
    type: 'A patch of a type that is none',
    cut: 'A patch that is cut off',
  },
  async perform(performing) {
    const { ask, remove } = documentOf(performing, 'json');
    const { mistake } = performing;
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
    await remove();
  },
};
