import type { SchemeSpace } from '#shared/auth/schemes/scheme-entry.ts';
import type { Scheme } from '#shared/auth/scheme.ts';
import { SCHEMES, type Schemes } from '#shared/auth/schemes/list.ts';
import type { SignIn } from '../sign-in/open-sign-in.ts';
import {
  type Call,
  PAGES,
  type Reply,
  RESOURCE,
  type TestResourceServer,
} from '../resource-server.fixture.ts';

/** Members of a space at `/name/`, whose scopes are `name:read` and `name:write`. */
export const spaceAt = (name: string, more: object = {}) => ({
  url: `${RESOURCE}/${name}/`,
  realm: name,
  schemes: ['Bearer'],
  scopes: { safe: [`${name}:read`], unsafe: [`${name}:write`] },
  cors: { origins: [PAGES] },
  ...more,
});

/** Nobody signs in anywhere, and the directory is empty. */
export const NO_SIGN_IN: SignIn = {
  session: () => undefined,
  about: async () => undefined,
  instead: () => undefined,
  endpointAt: () => undefined,
  has: () => false,
};

/** Asks as a client that may read and write the space that the path begins with. */
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

/** A factory for each scheme; all get what a space has, though most of them ask for less. */
export const everyScheme = (make: (name: string) => (site: SchemeSpace) => Scheme): Schemes =>
  Object.fromEntries(SCHEMES.map(({ name }) => [name, make(name)])) as unknown as Schemes;
