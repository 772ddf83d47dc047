import type { OutgoingHttpHeaders } from 'node:http';
import type { Call, Reply } from '#shared/server/wire/ask.fixture.ts';
import type { TestResourceServer } from '../../resource-server.fixture.ts';

export const LOCK_INFO = (scope = 'exclusive', owner = ''): string =>
  '<?xml version="1.0"?><D:lockinfo xmlns:D="DAV:">' +
  `<D:lockscope><D:${scope}/></D:lockscope><D:locktype><D:write/></D:locktype>${owner}</D:lockinfo>`;

/** The `Lock-Token` of an answer, a Coded-URL. */
export const tokenOf = ({ headers }: Reply): string => String(headers['lock-token']);

/** Clients of `/documents/`, each a separate application. */
export function clientsOf(rs: TestResourceServer) {
  const as = (name: string) => {
    const claims = { client_id: name, sub: name, exp: rs.now() + 86_400 };
    const token = rs.token('documents:read documents:write', claims);
    return (method: string, path: string, headers: OutgoingHttpHeaders = {}, body?: Call['body']) =>
      rs.ask(method, `/documents/${path}`, {
        headers: { Authorization: `Bearer ${token}`, ...headers },
        ...(body !== undefined && { body }),
      });
  };
  const [alice, bob] = [as('alice'), as('bob')];
  const lock = (
    client: typeof alice,
    path: string,
    { scope = 'exclusive', ...headers }: OutgoingHttpHeaders & { scope?: string } = {},
  ) => client('LOCK', path, { 'Content-Type': 'application/xml', ...headers }, LOCK_INFO(scope));
  return { alice, bob, lock };
}
