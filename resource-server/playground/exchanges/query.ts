import type { Exchange } from '../exchange.ts';
import { fieldOf } from '../http1-message.ts';
import { documentOf, etagOf, OF_DOCUMENTS } from './documents.ts';
import { atDocuments, putting } from '../in-shell.ts';

const PEOPLE = '[{"name":"Alice","age":31},{"name":"Bob","age":27}]';
const OVER_30 = '$[?@.age > 30].name';

/** The exchange of QUERY (RFC 10008, RFC 9535). */
export const queryExchange: Exchange = {
  ...OF_DOCUMENTS,
  name: 'query',
  title: 'QUERY',
  about:
    'A client asks a question in the content of the request, as with POST. But the request is safe and can be repeated, as with GET. The server gives the question an address: GET asks the question again there.',
  standard: 'RFC 10008, RFC 9535',
  command: atDocuments(
    ['people.json', ...putting('application/json', PEOPLE)],
    ['people.json', '-X', 'QUERY', '-H', 'Content-Type: application/jsonpath', '-d', OVER_30],
  ),
  mistakes: {
    type: 'A question in a language that the server does not know',
    cut: 'A question that is cut off',
    untyped: 'A question that does not say its language',
  },
  async perform(performing) {
    const { ask, remove } = documentOf(performing, 'json');
    const { remark, mistake } = performing;
    await ask('The client writes a document', {
      method: 'PUT',
      fields: [['Content-Type', 'application/json']],
      content: PEOPLE,
    });
    const type = mistake === 'type' ? 'application/sql' : 'application/jsonpath';
    const answer = await ask('The client asks for the names of everybody over 30', {
      method: 'QUERY',
      fields: mistake === 'untyped' ? [] : [['Content-Type', type]],
      content: mistake === 'cut' ? OVER_30.slice(0, -6) : OVER_30,
    });
    const address = fieldOf(answer, 'Location');
    if (address !== '') {
      remark(
        'In JSONPath $ is the document, [?…] keeps the values for which the condition is true, @ is one of them, and .name its member.',
      );
      await ask('The client has this result, and asks the same question for a newer result', {
        method: 'GET',
        target: new URL(address, performing.url).pathname + new URL(address, performing.url).search,
        fields: [['If-None-Match', etagOf(answer)]],
      });
    }
    await remove();
  },
};
