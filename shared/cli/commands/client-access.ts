import { type GrantOfClient, showClientAccess } from '#shared/operations/clients/client-access.ts';
import { lastUse, minute } from '../lines/last-use.ts';
import { scopeWords } from '../lines/scope-words.ts';
import { table } from '../lines/table.ts';
import { listCommandOf } from '../stores/of-operation.ts';

export const clientAccess = listCommandOf(showClientAccess, {
  nothing: ({ client_id: id }) => `Nobody has given ${id} a grant that still lives.`,
  lines: (items: readonly GrantOfClient[], widths) => table(HEADINGS, items.map(row), widths),
});

const HEADINGS = ['id', 'person', 'since', 'last use', 'by', 'scopes', 'address', 'agent'];

const row = (grant: GrantOfClient) => {
  const { id, name = '(removed)', since, last_issue, device, browser, scopes } = grant;
  const { address = '', agent = '' } = device ?? browser ?? {};
  return [
    id,
    name,
    minute(since),
    lastUse(last_issue),
    device ? 'device' : 'browser',
    scopeWords(scopes),
    address,
    agent,
  ];
};
