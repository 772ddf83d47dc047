import type { Call, Reply } from '#shared/server/wire/ask.fixture.ts';
import { PAGES, RESOURCE, type TestResourceServer } from './resource-server.fixture.ts';

/** The configuration of a space at `/name/`, whose scopes are `name:read` and `name:write`. */
export const spaceAt = (name: string, more: object = {}) => ({
  url: `${RESOURCE}/${name}/`,
  realm: name,
  schemes: ['Bearer'],
  scopes: { safe: [`${name}:read`], unsafe: [`${name}:write`] },
  cors: { origins: [PAGES] },
  ...more,
});

/** Sends requests as a client with the read and write scopes of the path's space. */
export function clientOf(rs: TestResourceServer) {
  const tokens = new Map<string, string>();
  return (method: string, path: string, { headers, body }: Call = {}): Promise<Reply> => {
    const name = path.split('/')[1] ?? '';
    const token = tokens.get(name) ?? rs.token(`${name}:read ${name}:write`);
    tokens.set(name, token);
    const authorized = { Authorization: `Bearer ${token}`, ...headers };
    return rs.ask(method, path, { headers: authorized, ...(body !== undefined && { body }) });
  };
}
